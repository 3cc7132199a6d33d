"""What a run over drafts is set to, and what each of its queries found."""

from collections.abc import Mapping
from dataclasses import dataclass

from scaar.core.types import ScorerDescription
from scaar.evaluator.queries.askings import Asking
from scaar.evaluator.queries.drafts import DraftOrigin
from scaar.evaluator.results import DatasetOrigin

FORMAT = 1
"""The version of the form in which these results are kept."""

CUTS = (3, 5, 10)
"""The numbers of passages at which recall is told; the last is how many are retrieved."""


@dataclass(frozen=True, slots=True)
class QueryEvaluation:
    """All that a run is set to. ``scorers`` tell contributions, by control or ``none``."""

    scaar: str
    created: str
    dataset: DatasetOrigin
    drafts: DraftOrigin
    askings: tuple[Asking, ...]
    scorers: Mapping[str, ScorerDescription]
    index: str
    index_version: str
    passages: int
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A query for one sentence of a draft, and where it found what is to be found.

    ``ranks`` are those of the question's supports, in their order, from 1; 0 is not found.
    ``refused`` is why there is no query: the scorer does not take the sentence. It finds nothing.
    """

    sentence: int
    query: str
    ranks: tuple[int, ...]
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """The retrievals of one question under every label; none where its draft only concludes."""

    question_id: str
    retrievals: Mapping[str, tuple[Retrieval, ...]]
