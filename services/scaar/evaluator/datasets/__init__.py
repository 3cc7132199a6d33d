"""Data sets of questions with known answers, by name, each with its reader."""

from scaar.core.errors import InvalidRequest
from scaar.core.registry import Registry
from scaar.evaluator.datasets.bamboogle import BAMBOOGLE
from scaar.evaluator.datasets.flashrag import FLASHRAG
from scaar.evaluator.datasets.hotpotqa import HOTPOTQA
from scaar.evaluator.datasets.iirc import IIRC
from scaar.evaluator.datasets.kind import DatasetKind
from scaar.evaluator.datasets.lab import LAB
from scaar.evaluator.datasets.mmlu import MMLU
from scaar.evaluator.datasets.musique import MUSIQUE
from scaar.evaluator.datasets.nq import NQ
from scaar.evaluator.datasets.plain import JSONL
from scaar.evaluator.datasets.popqa import POPQA
from scaar.evaluator.datasets.retrievalqa import RETRIEVALQA
from scaar.evaluator.datasets.strategyqa import STRATEGYQA
from scaar.evaluator.datasets.triviaqa import TRIVIAQA
from scaar.evaluator.datasets.two_wiki import TWO_WIKI
from scaar.evaluator.measures import MEASURES


def _problem(name: str, kind: DatasetKind) -> str:
    if kind.name != name:
        return f"its name is {kind.name!r}"
    unknown = [MEASURES.unknown(each) for each in kind.measures if each not in MEASURES]
    return "; ".join(unknown)


KINDS = Registry(
    "data set",
    "scaar.datasets",
    DatasetKind,
    {
        kind.name: kind
        for kind in (
            *(TWO_WIKI, HOTPOTQA, IIRC, STRATEGYQA, NQ, TRIVIAQA, POPQA, MMLU),
            *(MUSIQUE, BAMBOOGLE, RETRIEVALQA, FLASHRAG, LAB, JSONL),
        )
    },
    problem=_problem,
)


def kind_of(name: str) -> DatasetKind:
    """Return the data set with a name.

    Raises:
        InvalidRequest: the name is unknown; lists the known names.
    """
    if name not in KINDS:
        raise InvalidRequest.of("dataset", KINDS.unknown(name))
    return KINDS[name]
