"""Samples of the questions of a data set, drawn by a seed, with their origin."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets.kind import DatasetKind
from scaar.evaluator.datasets.lab import DEFAULT_COUNT, DEFAULT_SEED, LAB
from scaar.evaluator.datasets.loader import open_dataset
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.record_json import RecordJson


@dataclass(frozen=True, slots=True)
class DrawnQuestions:
    """Questions of a data set, and their origin."""

    kind: DatasetKind
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
    freedom: float | None = None,
) -> DrawnQuestions:
    """Return ``limit`` questions of a data set; those of a file keep its order.

    Raises:
        InvalidRequest: the data set is unknown, its file has another layout, or it has fewer
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
            freedom=freedom,
        )
        drawn: Sequence[Question] = opened.questions
    else:
        opened = open_dataset(
            name, file, aliases=aliases, style=style, tail_share=tail_share, freedom=freedom
        )
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
        freedom=freedom,
    )
    return DrawnQuestions(opened.kind, tuple(drawn), origin)


def check_limit(limit: int | None) -> None:
    """Check that a number of questions is at least 1.

    Raises:
        InvalidRequest: the number is less than 1.
    """
    if limit is not None and limit < 1:
        raise InvalidRequest.of("limit", f"must be at least 1, not {limit}")


def sampled(questions: Sequence[Question], *, limit: int | None, seed: int) -> Sequence[Question]:
    """Return ``limit`` of the questions, chosen by their ids and the seed.

    A larger sample with the same seed contains a smaller one.

    Raises:
        InvalidRequest: there are fewer questions.
    """
    if limit is None or limit == len(questions):
        return questions
    if limit > len(questions):
        text = (
            f"must be at most {len(questions)}, the number of questions of this file, not {limit}"
        )
        raise InvalidRequest.of("limit", text)

    def place(question: Question) -> bytes:
        return hashlib.sha256(f"{seed} {question.id}".encode()).digest()

    chosen = {each.id for each in sorted(questions, key=place)[:limit]}
    return [each for each in questions if each.id in chosen]


_QUESTION = RecordJson(Question)


def checksum_of(questions: Sequence[Question]) -> str:
    """Return the SHA-256 of the questions with all their fields."""
    digest = hashlib.sha256()
    for question in questions:
        digest.update(_QUESTION.line(question))
    return digest.hexdigest()
