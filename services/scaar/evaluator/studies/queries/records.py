"""The records of a comparison of query formulations: its settings and its retrievals."""

from collections.abc import Mapping
from dataclasses import dataclass

from scaar.core.types import ScorerDescription
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.studies.queries.drafts import DraftOrigin
from scaar.evaluator.studies.queries.formulations import FormulationVariant

FORMAT = 1
"""Version of the format of these results."""

CUTS = (3, 5, 10)
"""The numbers of passages at which recall is measured; the last one is retrieved."""


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
class Retrieval:
    """A query for one sentence of a draft, and the ranks of the question's supports.

    ``ranks`` are in the order of the supports, from 1; 0 means not found. ``refused`` is the reason
    why the scorer refused the sentence; then there is no query and nothing is found.
    """

    sentence: int
    query: str
    ranks: tuple[int, ...]
    refused: str = ""


@dataclass(frozen=True, slots=True)
class QuestionRetrievals:
    """The retrievals of one question for every label; none if its draft only concludes."""

    question_id: str
    retrievals: Mapping[str, tuple[Retrieval, ...]]
