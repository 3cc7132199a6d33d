"""The records of a comparison of query formulations: its settings and its retrievals."""

from collections.abc import Mapping
from dataclasses import dataclass

from scaar.core.types import ScorerDescription
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.studies.queries.drafts import DraftOrigin
from scaar.evaluator.studies.queries.formulations import FormulationVariant

FORMAT = 2
"""Version of the format of these results."""

CUTS = (3, 5, 10)
"""The numbers of passages per retrieval at which supports are counted."""
MIDDLE = CUTS[1]
"""The number for which reports have further columns."""


@dataclass(frozen=True, slots=True)
class QueryEvaluation:
    """The settings of a run. ``scorers`` maps a control, or ``none``, to its scorer."""

    scaar: str
    created: str
    dataset: DatasetOrigin
    drafts: DraftOrigin
    variants: tuple[FormulationVariant, ...]
    scorers: Mapping[str, ScorerDescription]
    index: str
    index_version: str
    passages: int
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Reading:
    """The passages that a retrieval reads at one of the :data:`CUTS`.

    ``ranks`` are those of the question's supports, in their order, from 1; 0 means not read.
    ``fresh`` is the number of passages that no earlier retrieval of the answer read. ``withheld``
    is the number of supports that the query finds at the cut, but that were excluded.
    """

    ranks: tuple[int, ...]
    passages: int = 0
    fresh: int = 0
    withheld: int = 0


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The query for one sentence of a draft, and the passages read at each of the :data:`CUTS`.

    The results of ``fused_with``, a second query, are fused with those of ``query``. The query of a
    formulation that depends on the passages read is that at :data:`MIDDLE`. ``refused`` is the
    reason why the scorer refused the sentence; then there is no query and nothing is read.
    """

    sentence: int
    query: str
    readings: tuple[Reading, ...]
    fused_with: str = ""
    refused: str = ""

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries of the retrieval, one search each."""
        return tuple(each for each in (self.query, self.fused_with) if each)


@dataclass(frozen=True, slots=True)
class QuestionRetrievals:
    """The retrievals of one question for every label; none if its draft only concludes."""

    question_id: str
    retrievals: Mapping[str, tuple[Retrieval, ...]]
