"""Records of calls, evaluations and searches, as their callers saw them."""

from dataclasses import dataclass
from typing import Self

from scaar.v1.answer_pb2 import Answer
from scaar.v1.evaluator_pb2 import EvaluationPrediction


@dataclass(frozen=True, slots=True)
class Text:
    """Text and passages of an answer, which are equal whenever the same question is answered."""

    answer: str
    sentences: tuple[tuple[str, tuple[str, ...]], ...]
    """Each sentence with the ids of the passages in its prompt."""
    retrievals: int
    degraded: int | None = None
    """Index of the first sentence that was accepted as drafted because a service failed."""

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
    """A finished call to the installation."""

    method: str
    began: float
    ended: float
    code: str = "OK"
    reason: str = ""
    """Reason of scaar's error; empty for OK and for statuses of gRPC itself."""
    details: str = ""
    deadline_s: float = 0.0
    """Time limit in the request, within which the service must end the call."""
    answers: tuple[Text, ...] = ()
    """Returned answers: exactly one if the call succeeded."""
    question: tuple[str, str] = ("", "")
    """Question and policy of an answer."""
    may_degrade: bool = False
    request_id: str = ""

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
    """A search of an index that is repeatedly replaced by its next generation."""

    ended: float
    found: tuple[int, ...]
    """Generation of every passage that was found."""
    possible: frozenset[int]
    """The last generation that was built successfully, and later ones that may have been."""
    passages: int
    """Number of passages in the index."""
