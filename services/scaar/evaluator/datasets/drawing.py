"""Questions drawn of a data set by a seed, as many as a limit, and where they came from."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets.kind import Kind
from scaar.evaluator.datasets.lab import DEFAULT_COUNT, DEFAULT_SEED, LAB
from scaar.evaluator.datasets.opening import open_dataset
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.run import checksum_of


@dataclass(frozen=True, slots=True)
class DrawnQuestions:
    """Questions of a kind, and where they came from."""

    kind: Kind
    questions: tuple[Question, ...]
    origin: DatasetOrigin


def draw_questions(
    name: str,
    path: str = "",
    *,
    limit: int | None,
    seed: int | None,
    aliases: Path | None = None,
    style: float | None = None,
    tail_share: float | None = None,
) -> DrawnQuestions:
    """The questions of the data set of that name; those of a file stand in its order.

    Raises:
        InvalidRequest: there is no such data set, its file is none of it, or it has not so many
            questions.
    """
    check_limit(limit)
    file = Path(path) if path else None
    if name == LAB.name:
        opened = open_dataset(
            name,
            file,
            aliases=aliases,
            seed=seed,
            count=limit,
            style=style,
            tail_share=tail_share,
        )
        drawn: Sequence[Question] = opened.questions
    else:
        opened = open_dataset(name, file, aliases=aliases, style=style, tail_share=tail_share)
        drawn = sampled(opened.questions, limit=limit, seed=seed or 0)
    origin = DatasetOrigin(
        name=name,
        path=path,
        seed=seed if seed is not None else DEFAULT_SEED if name == LAB.name else 0,
        questions=len(drawn),
        checksum=checksum_of(drawn),
        limit=DEFAULT_COUNT if name == LAB.name and limit is None else limit,
        file_sha256=opened.sha256,
        published_as=opened.published_as,
        style=style,
        tail_share=tail_share,
    )
    return DrawnQuestions(opened.kind, tuple(drawn), origin)


def check_limit(limit: int | None) -> None:
    """Passes a number of questions that can be drawn.

    Raises:
        InvalidRequest: it is less than 1.
    """
    if limit is not None and limit < 1:
        raise InvalidRequest.of("limit", f"must be at least 1, not {limit}")


def sampled(questions: Sequence[Question], *, limit: int | None, seed: int) -> Sequence[Question]:
    """So many of the questions, a function of their ids and the seed; a larger sample has them.

    Raises:
        InvalidRequest: there are not so many.
    """
    if limit is None or limit == len(questions):
        return questions
    if limit > len(questions):
        text = f"must be at most {len(questions)}, the questions of this file, not {limit}"
        raise InvalidRequest.of("limit", text)

    def place(question: Question) -> bytes:
        return hashlib.sha256(f"{seed} {question.id}".encode()).digest()

    chosen = {each.id for each in sorted(questions, key=place)[:limit]}
    return [each for each in questions if each.id in chosen]
