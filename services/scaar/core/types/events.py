"""The events of an answer, in their order."""

from dataclasses import dataclass

from scaar.core.types.answers import AcceptedSentence, Answer, Provenance
from scaar.core.types.generation import Token
from scaar.core.types.judging import JudgedWord
from scaar.core.types.policies import Gate
from scaar.core.types.queries import Query
from scaar.core.types.retrieval import RetrievedPassage


@dataclass(frozen=True, slots=True)
class AnswerStarted:
    """The first event: what will answer, and how."""

    provenance: Provenance


@dataclass(frozen=True, slots=True)
class TokenDrafted:
    """A token of the sentence being drafted. ``sentence`` counts from 0."""

    sentence: int
    token: Token


@dataclass(frozen=True, slots=True)
class GateJudged:
    """What the policy's gate decided of the question, before its first sentence stands, and why.

    ``probability`` is how likely the question is of the long tail; where it is below ``threshold``
    the answer is the model's alone. It comes of the average frequency of the question's words, of
    that of the rarest, and of ``confidence``, the mean probability of the first drafted sentence's
    tokens.
    """

    gate: Gate
    long_tail: bool
    probability: float
    threshold: float
    average_frequency: float
    rarest_frequency: float
    confidence: float


@dataclass(frozen=True, slots=True)
class SentenceJudged:
    """A drafted sentence with each word held against its threshold.

    ``trigger`` is the position of the first uncertain word, or of the one that weighs most in a
    sentence that is uncertain as a whole; None where the sentence is certain. ``retrieving`` says
    whether passages will be retrieved (a spent budget forbids it).
    """

    sentence: int
    text: str
    words: tuple[JudgedWord, ...]
    trigger: int | None
    retrieving: bool
    score: float | None = None
    """The theta at which the sentence is on the edge of being retrieved for; None where no theta
    decides it: an entropy is missing, or no word may trigger."""


@dataclass(frozen=True, slots=True)
class QueryBuilt:
    """The query for the sentence."""

    sentence: int
    query: Query


@dataclass(frozen=True, slots=True)
class PassagesRetrieved:
    """The passages found for the query."""

    sentence: int
    index: str
    index_version: str
    passages: tuple[RetrievedPassage, ...]


@dataclass(frozen=True, slots=True)
class SentenceRegenerated:
    """The sentence written again with the passages."""

    sentence: int
    draft: str
    text: str


@dataclass(frozen=True, slots=True)
class SentenceAccepted:
    """A sentence that stands. Its span counts from the start of the answer's text."""

    sentence: int
    accepted: AcceptedSentence
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AnswerFinished:
    """The last event."""

    answer: Answer


AnswerEvent = (
    AnswerStarted
    | TokenDrafted
    | GateJudged
    | SentenceJudged
    | QueryBuilt
    | PassagesRetrieved
    | SentenceRegenerated
    | SentenceAccepted
    | AnswerFinished
)
