"""The questions of ``--dataset``: a sample by ``--seed`` and ``--limit``."""

from dataclasses import dataclass
from pathlib import Path

from scaar.compose import lab_index_name
from scaar.evaluator.datasets.kind import DatasetKind
from scaar.evaluator.datasets.lab import LAB
from scaar.evaluator.datasets.plain import JSONL
from scaar.evaluator.datasets.sample import draw_questions
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin


@dataclass(frozen=True, slots=True)
class QuestionSample:
    """Questions of a data set, with their origin and the index of their passages."""

    kind: DatasetKind
    questions: tuple[Question, ...]
    origin: DatasetOrigin
    index: str | None = None
    """The index of their passages; None where the data set has no default index."""

    @property
    def lab_world(self) -> int | None:
        """The seed of the lab's world; None for other data sets."""
        return self.origin.seed if self.kind is LAB else None


def draw(
    dataset: str,
    *,
    limit: int | None,
    seed: int | None,
    aliases: Path | None = None,
    style: float | None = None,
    tail_share: float | None = None,
    freedom: float | None = None,
) -> QuestionSample:
    """Draw the questions of ``NAME`` or ``NAME:PATH``, in the order of the file.

    Raises:
        InvalidRequest: the data set is unknown, the file has another layout, or it has fewer
            questions than the limit.
    """
    name, _, path = dataset.partition(":")
    drawn = draw_questions(
        name,
        path,
        limit=limit,
        seed=seed,
        aliases=aliases,
        style=style,
        tail_share=tail_share,
        freedom=freedom,
    )
    index = lab_index_name(drawn.origin.seed) if name == LAB.name else None
    return QuestionSample(drawn.kind, drawn.questions, drawn.origin, index)


def sending_note(kind: DatasetKind) -> str:
    """Return what an evaluator does otherwise with questions of the data set that are sent to it.

    The note is empty for questions of one's own, which it evaluates as they are.
    """
    if kind.name == JSONL.name:
        return ""
    return (
        f"the questions are sent and evaluated as {JSONL.name}, not as {kind.name}: with the "
        f"measures {', '.join(JSONL.measures)}, the examples of the prompt layout, max_tokens "
        f"{JSONL.max_tokens}, and no answers extracted by rules of {kind.name}. For those of "
        f"{kind.name}, name the file in the evaluator's setting datasets "
        f"(SCAAR_EVALUATOR_DATASETS), and give {kind.name} without a path"
    )
