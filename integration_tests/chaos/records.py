"""What became of every call, evaluation and search, as their callers saw it."""

from dataclasses import dataclass
from typing import Self

from scaar.v1.answer_pb2 import Answer
from scaar.v1.evaluator_pb2 import EvaluationPrediction


@dataclass(frozen=True, slots=True)
class Text:
    """What an answer says, and from what: equal whenever the same question is answered as well."""

    answer: str
    sentences: tuple[tuple[str, tuple[str, ...]], ...]
    """Each with the ids of the passages that it was written from."""
    retrievals: int
    degraded: int | None = None
    """The first sentence that stands as drafted because something failed."""

    @classmethod
    def of(cls, answer: Answer) -> Self:
        marks = [at for at, each in enumerate(answer.sentences) if each.HasField("degraded")]
        return cls(
            answer.answer,
            tuple((each.text, tuple(each.passage_ids)) for each in answer.sentences),
            answer.usage.retrievals,
            marks[0] if marks else None,
        )


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was made of the installation, with the way in which it ended."""

    method: str
    began: float
    ended: float
    code: str = "OK"
    reason: str = ""
    """Of scaar's error; empty where gRPC itself, or nobody, made the status."""
    details: str = ""
    deadline_s: float = 0.0
    """Within which the service has to end it, as it was told."""
    answers: tuple[Text, ...] = ()
    """The answers that it brought: exactly one where it succeeded."""
    question: tuple[str, str] = ("", "")
    """The question and the policy of an answer."""
    may_degrade: bool = False

    @property
    def succeeded(self) -> bool:
        return self.code == "OK"


@dataclass(frozen=True, slots=True)
class Row:
    """A prediction of an evaluation."""

    question: str
    setting: str
    answer: str
    text: str
    retrievals: int
    failure: str = ""

    @classmethod
    def of(cls, prediction: EvaluationPrediction) -> Self:
        failed = prediction.failure
        return cls(
            prediction.question_id,
            prediction.setting,
            prediction.answer,
            prediction.text,
            prediction.usage.retrievals,
            f"{failed.reason}: {failed.message}" if prediction.HasField("failure") else "",
        )

    @property
    def key(self) -> tuple[str, str]:
        return self.question, self.setting


@dataclass(frozen=True, slots=True)
class Search:
    """A search of an index that is replaced again and again, each time by another generation."""

    ended: float
    found: tuple[int, ...]
    """The generation of every passage that was found."""
    possible: frozenset[int]
    """The last generation whose building succeeded, and those since whose building may have."""
    passages: int
    """How many there are to be found."""
