"""The records of tuning: questions, and the trajectories of their answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from scaar.core.types import Usage
from scaar.evaluator.records import Question

ALWAYS, NEVER = 1e300, -1e300
"""Values of a draft that a trigger finds uncertain at every theta, or at none."""


@dataclass(frozen=True, slots=True)
class TunedQuestion:
    """A question of a sample; ``entity`` differs between the samples for films of the long tail.

    ``sample`` is the position of the sample, and ``fold`` that of the fold of the entity.
    """

    key: str
    sample: int
    question: Question
    entity: str
    fold: int


@dataclass(frozen=True, slots=True)
class JudgedDraft:
    """A drafted sentence with the values of the triggers, which are higher the less certain it is.

    ``sentence`` is its number in the answer, from 0. ``wrong`` is whether the draft states a wrong
    fact, and ``accepted_wrong`` whether the accepted sentence does; None if the truth is unknown,
    or if no fact is stated.
    """

    sentence: int
    values: Mapping[str, float]
    signals: Mapping[str, float] = field(default_factory=dict)
    wrong: bool | None = None
    accepted_wrong: bool | None = None


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What an answer takes of the language model: calls, tokens read and tokens written."""

    calls: int
    tokens_read: int
    tokens_written: int

    @classmethod
    def of(cls, usage: Usage) -> "ModelUsage":
        """Return the part of the model in the usage of an answer."""
        return cls(usage.llm_calls, usage.prompt_tokens, usage.generated_tokens)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """An answer with retrievals at given sentences, and all drafts that were judged.

    Bit n of ``plan`` is set if there was a retrieval for sentence n. ``quality`` is the measure of
    the data set, None for a question without answers. ``usage`` is None in the folders of earlier
    versions.
    """

    question: str
    retrieving: str
    plan: int
    quality: float | None
    searches: int
    drafts: tuple[JudgedDraft, ...]
    usage: ModelUsage | None = None

    @property
    def question_id(self) -> str:
        """The key of the question, by which a trajectory is stored."""
        return self.question


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """The usage and the times of an answer, made while nothing else runs."""

    question: str
    usage: Usage
    scored_sentences: int

    @property
    def question_id(self) -> str:
        """The key of the question, by which the answer is stored."""
        return self.question
