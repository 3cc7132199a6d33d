"""The events of an answer, in their order."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from scaar.core.types.answers import AcceptedSentence, Answer, Provenance
from scaar.core.types.conversation import RewriteOutcome
from scaar.core.types.generation import Token
from scaar.core.types.judgements import JudgedWord
from scaar.core.types.queries import Query
from scaar.core.types.retrieval import RetrievedPassage


@dataclass(frozen=True, slots=True)
class AnswerStarted:
    """The first event: the models, the index and the policy of the answer."""

    provenance: Provenance


@dataclass(frozen=True, slots=True)
class QuestionRewritten:
    """The last question of a conversation, rewritten as a standalone question.

    Follows AnswerStarted. ``question`` is answered; it is the ``original`` one unless the outcome
    is ``REWRITTEN``. ``dropped_messages`` is the number of oldest messages that the model did not
    see.
    """

    original: str
    question: str
    outcome: RewriteOutcome
    dropped_messages: int = 0


@dataclass(frozen=True, slots=True)
class PromptRead:
    """The model reads a long prompt before it drafts a sentence, and has come so far.

    ``sentence`` counts from 0. ``read_tokens`` of the ``prompt_tokens`` have been read or were
    cached. Only engines that report it, and only for prompts that take more than half a second.
    """

    sentence: int
    prompt_tokens: int
    read_tokens: int

    @property
    def unread_tokens(self) -> int:
        """Number of tokens that are still to be read."""
        return self.prompt_tokens - self.read_tokens


@dataclass(frozen=True, slots=True)
class TokenDrafted:
    """A token of the draft of a sentence. ``sentence`` counts from 0."""

    sentence: int
    token: Token


@dataclass(frozen=True, slots=True)
class GateJudged:
    """The decision of the policy's gate about the question, before the first sentence is accepted.

    ``policy`` names the policy that answers: the requested one, ``no_retrieval`` if the judgement,
    ``probability``, is below ``threshold``, or the choice of a router, whose threshold is 0.
    ``features`` are the values by which the gate judged, by name. ``top_k`` is the number of
    passages of a retrieval if the gate chose it.
    """

    gate: str
    policy: str
    probability: float
    threshold: float
    features: Mapping[str, float]
    top_k: int | None = None

    @property
    def passed(self) -> bool:
        """Whether the probability reaches the threshold; always for a router."""
        return self.probability >= self.threshold


@dataclass(frozen=True, slots=True)
class SentenceJudged:
    """The draft of a sentence, with each word compared with its threshold.

    ``trigger`` is the position of the first uncertain word, or of the most influential word of a
    sentence that is uncertain as a whole; None if the sentence is certain. ``retrieving`` is
    whether passages will be retrieved: not if the budget is used up; without a trigger, if the
    draft ``abstains``. A policy that judges its answer as a whole reports it as sentence 0, before
    any sentence of it is accepted.
    """

    sentence: int
    text: str
    words: tuple[JudgedWord, ...]
    trigger: int | None
    retrieving: bool
    score: float | None = None
    """The theta at which the decision to retrieve for the sentence changes. None if no theta
    decides: an entropy is missing, or no word can trigger."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """The signals of the draft by name (:mod:`scaar.core.signals`), as far as the evidence that
    the policy needs provides them."""
    without_contributions: bool = False
    """Whether the scorer cannot read the draft, so that every word counts as one that contributes
    nothing, and the query has all confident words."""
    scorer_mismatch: bool = False
    """Whether contributions, thresholds and decision are of a scorer that does not fit model or
    index (:attr:`Provenance.scorer_mismatch`)."""
    abstains: bool = False
    """Whether the draft says, before any passage was read, that the model does not know. Passages
    are then retrieved for the question, also if every word is certain."""


@dataclass(frozen=True, slots=True)
class QueryBuilt:
    """The query for the sentence."""

    sentence: int
    query: Query


@dataclass(frozen=True, slots=True)
class PassagesRetrieved:
    """The passages found for the query, without those of the ``excluded_ids``, oldest first."""

    sentence: int
    index: str
    index_version: str
    passages: tuple[RetrievedPassage, ...]
    excluded_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilteredSentence:
    """A sentence of a passage, the probability that it is useful, and whether the model gets it."""

    text: str
    probability: float
    kept: bool


@dataclass(frozen=True, slots=True)
class FilteredPassage:
    """The sentences of a retrieved passage; without a kept one, it is not in the prompt."""

    id: str
    sentences: tuple[FilteredSentence, ...]


@dataclass(frozen=True, slots=True)
class PassagesFiltered:
    """The sentences of the retrieved passages that the model is given.

    A sentence is kept if its probability is at least ``threshold``. With ``fell_back``, no sentence
    was, and the model is given the whole passages.
    """

    sentence: int
    passages: tuple[FilteredPassage, ...]
    threshold: float
    fell_back: bool

    @property
    def kept_share(self) -> float:
        """The share of the sentences that are kept; 1 for passages without sentences."""
        kept = [each.kept for passage in self.passages for each in passage.sentences]
        return sum(kept) / len(kept) if kept else 1.0


@dataclass(frozen=True, slots=True)
class SentenceRegenerated:
    """The sentence regenerated with the passages.

    ``uncertain`` is whether it is still uncertain; None if it was not judged.
    """

    sentence: int
    draft: str
    text: str
    uncertain: bool | None = None


@dataclass(frozen=True, slots=True)
class SentenceAccepted:
    """An accepted sentence. ``start`` and ``end`` are offsets into the text of the answer."""

    sentence: int
    accepted: AcceptedSentence
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AnswerDrafted:
    """The answer of a round that is not the last one, counted from 1.

    No sentence of it is accepted yet. The query of the next round follows. If it finds passages,
    the answer is discarded and written again, from sentence 0; otherwise its sentences are
    accepted.
    """

    round: int
    text: str


class SearchDecision(enum.StrEnum):
    """The decision on a search that the model requested."""

    SEARCHED = "searched"
    """It is made. The query and the passages follow."""

    SKIPPED = "skipped"
    """It is skipped, because the model is certain of every token of the query."""

    EMPTY = "empty"
    """It is refused: the query is empty."""

    REPEATED = "repeated"
    """It is refused: the answer already has the passages of this query."""

    LIMIT = "limit"
    """It is refused: the limit of searches or of retrievals is used up."""

    MALFORMED = "malformed"
    """It is refused: the request is not a valid call of the tool."""


@dataclass(frozen=True, slots=True)
class SearchRequested:
    """A search that the model requested; ``number`` counts from 1.

    ``text`` is what the model wrote from the previous request up to this one, and no part of the
    answer. ``probability`` is the smallest probability of a token of the query; None if one is
    unknown.
    """

    number: int
    text: str
    query: str
    decision: SearchDecision
    probability: float | None = None


class RetrievalDecision(enum.StrEnum):
    """The decision before a segment of a model that writes reflection tokens."""

    RETRIEVE = "retrieve"
    """The probability is above the threshold. The query and the passages follow."""

    SKIP = "skip"
    """The segment is written without a retrieval."""

    CONTINUE = "continue"
    """The segment is written from the passage of an earlier one, as the model prefers."""

    LIMIT = "limit"
    """The segment is written without a retrieval, because the budget is used up."""


@dataclass(frozen=True, slots=True)
class RetrievalWeighed:
    """The decision whether to retrieve before a segment, by the model's reflection tokens.

    ``probability`` is that of ``[Retrieval]``, as a share of ``[Retrieval]`` and
    ``[No Retrieval]``. A segment is accepted as one sentence, and ``sentence`` is its number.
    """

    sentence: int
    probability: float
    threshold: float
    decision: RetrievalDecision


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """A segment written from one passage, and its scores.

    ``relevance`` and ``support`` are in [0, 1], ``utility`` in [-1, 1]; the last two are 0 if the
    model wrote no such judgement. ``likelihood`` is the geometric mean of the probabilities of the
    tokens. ``score``, by which candidates are ranked, is the sum of the four, with half the
    utility.
    """

    passage_id: str
    text: str
    relevance: float
    support: float
    utility: float
    likelihood: float
    score: float


@dataclass(frozen=True, slots=True)
class CandidatesScored:
    """The candidates of a segment, in the order of their passages.

    ``kept`` is the position of the accepted one, from 0.
    """

    sentence: int
    candidates: tuple[ScoredCandidate, ...]
    kept: int


@dataclass(frozen=True, slots=True)
class AnswerFinished:
    """The last event, with the whole answer."""

    answer: Answer


AnswerEvent = (
    AnswerStarted
    | QuestionRewritten
    | PromptRead
    | TokenDrafted
    | GateJudged
    | SentenceJudged
    | QueryBuilt
    | PassagesRetrieved
    | PassagesFiltered
    | SentenceRegenerated
    | SentenceAccepted
    | AnswerDrafted
    | SearchRequested
    | RetrievalWeighed
    | CandidatesScored
    | AnswerFinished
)
