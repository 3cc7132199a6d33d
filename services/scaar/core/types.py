"""The domain's values: frozen, and what crosses a port.

Offsets and spans are in Unicode code points, half-open [start, end). Log-probabilities are
natural logarithms, entropies are in nats, ranks count from 1, times are in milliseconds where
the name ends in ``_ms``.
"""

import enum
from dataclasses import dataclass

# --- generator ------------------------------------------------------------------------------


class Capability(enum.StrEnum):
    """What an engine can give beside text."""

    LOGPROBS = "logprobs"
    ENTROPY = "entropy"
    ATTENTION = "attention"
    RESUME_BY_IDS = "resume_by_ids"
    """The engine can go on from token ids, so that text is never tokenised twice."""


class LogprobKind(enum.StrEnum):
    """Whether log-probabilities are those of the model's own distribution."""

    RAW = "raw"
    PROCESSED = "processed"
    UNKNOWN = "unknown"


class ContinuationKind(enum.StrEnum):
    """How a model goes on from the prefix of a request."""

    NATIVE = "native"
    """From its very text: what follows is what the model would have written."""
    RESTATED = "restated"
    """The prefix is shown to the model, which is asked to go on; what it repeats is cut. What
    follows is its best effort."""


class FinishReason(enum.StrEnum):
    """Why a generation ended."""

    END_OF_SEQUENCE = "end_of_sequence"
    LENGTH = "length"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class TopToken:
    """One of the likeliest tokens at a position."""

    id: int
    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token and the span of generated text that it covers.

    ``id`` is 0 from an engine that gives no ids. ``logprob`` is None where the engine gave none
    (null, NaN, -inf); ``entropy`` is of the next-token distribution over the full vocabulary, None
    where the engine gives none. A token of zero width is part of a character that a later token
    completes.
    """

    id: int
    text: str
    start: int
    end: int
    logprob: float | None = None
    entropy: float | None = None
    top: tuple[TopToken, ...] = ()
    attention: tuple[float, ...] = ()
    """The last layer's attention with which it was predicted, averaged over heads: what the token
    before it pays to every token up to and with itself. Empty where none was asked for."""


@dataclass(frozen=True, slots=True)
class GenerationStart:
    """The prompt has been read.

    Comes first, from engines that count it, so that a generation that is closed before its end
    can be billed all the same.
    """

    prompt_tokens: int
    tokens: tuple[Token, ...] = ()
    """The tokens read, prompt and prefix, where attention was asked for; their spans count from the
    start of the prompt."""


@dataclass(frozen=True, slots=True)
class GenerationEnd:
    """The end of a generation: why, and what it cost."""

    finish_reason: FinishReason
    prompt_tokens: int
    generated_tokens: int
    attention: tuple[float, ...] = ()
    """The attention with which the end was predicted, as :attr:`Token.attention`; empty where none
    was asked for, and where the model did not end the text itself."""


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """Text to be continued, greedily.

    ``prefix`` is what has been written after ``prompt`` so far; ``prefix_token_ids`` are its
    tokens where they are known and cover it exactly, for engines that resume by ids. Spans of
    the generated tokens count from the end of ``prefix``. A stop string ends the generation and
    is not part of the text.
    """

    prompt: str
    prefix: str = ""
    prefix_token_ids: tuple[int, ...] = ()
    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    top_tokens: int = 0
    attention: bool = False
    """Whether every token is to come with the attention with which it was predicted."""


@dataclass(frozen=True, slots=True)
class AttendRequest:
    """A text whose last-layer attention is wanted: ``prompt`` then ``text``.

    ``text_token_ids`` are the text's tokens, where they are known and cover it exactly. Given
    without a prompt, they are read alone, not even after what begins a text.
    """

    prompt: str
    text: str
    text_token_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Attention:
    """Last-layer attention, averaged over heads.

    ``tokens`` are those of prompt and text (the first ``prompt_tokens`` are the prompt's; their
    spans count from the start of the prompt). ``weights[i][j]`` is the attention paid by token
    ``prompt_tokens + i`` to token j; a row has as many weights as tokens up to and with its own.
    """

    tokens: tuple[Token, ...]
    prompt_tokens: int
    weights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class RecommendedSettings:
    """What a model's keeper found to suit it, for one policy; None where the paper's value does."""

    policy: str
    theta: float | None = None
    alpha: float | None = None
    top_k: int | None = None


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """Which language model answers, and what it can give."""

    model: str
    revision: str
    engine: str
    logprob_kind: LogprobKind
    capabilities: frozenset[Capability]
    max_total_tokens: int
    prompt_profile: str
    """The prompt profile that suits the model; a request may name another."""
    recommended: tuple[RecommendedSettings, ...] = ()
    continuation: ContinuationKind = ContinuationKind.NATIVE


# --- scorer ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """A sentence, as its words, whose contributions to (question, sentence) are wanted."""

    question: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScorerDescription:
    """Which cross-encoder scores."""

    model: str
    revision: str
    engine: str
    max_pair_tokens: int


# --- judging --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Word:
    """A maximal run of non-space characters of a text, punctuation attached."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class JudgedWord:
    """A drafted word held against its threshold.

    ``probability`` is P' (SCAAR Eq. 4, 5), None where a token's log-probability is missing.
    ``contribution`` is r (Eq. 1), None where neither trigger nor query uses it. ``threshold``
    is theta_i (Eq. 3), ``capped`` says that the cap set it. ``uncertain``: the probability is
    below it, or it was raised beyond 1.

    A trigger that does not go by probabilities holds ``value`` against the threshold, and the word
    is uncertain where it is above. ``entropy`` is the mean over its tokens, ``attention`` what
    later tokens pay to it, scaled to mean 1 over the sentence (DRAGIN Eq. 3); None where the
    trigger does not use them, or the engine gave none.
    """

    text: str
    start: int
    end: int
    probability: float | None
    threshold: float
    uncertain: bool
    contribution: float | None = None
    capped: bool = False
    value: float | None = None
    entropy: float | None = None
    attention: float | None = None


@dataclass(frozen=True, slots=True)
class AttendedWord:
    """A word of the question or of the answer, and the attention paid to it from the trigger."""

    text: str
    attention: float


# --- queries --------------------------------------------------------------------------------


class Formulation(enum.StrEnum):
    """What to ask the retriever."""

    QUESTION = "question"
    CURRENT_SENTENCE = "current_sentence"
    LAST_SENTENCE = "last_sentence"
    LAST_N_TOKENS = "last_n_tokens"
    FULL_CONTEXT = "full_context"
    PFQ = "pfq"
    CONTENT_WORDS = "content_words"
    ATTENTION = "attention"
    ATTENTION_REFERENCE = "attention_reference"


class WordOrder(enum.StrEnum):
    """In which order a percentile-filtered query names the kept words."""

    TEXT = "text"
    CONTRIBUTION = "contribution"


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """How a query is formulated."""

    formulation: Formulation
    include_question: bool
    alpha: float = 50.0
    """Share of words kept by PFQ, in percent, (0, 100]."""
    word_order: WordOrder = WordOrder.TEXT
    last_n_tokens: int = 25
    max_words: int = 64
    """The most words of a query; the question is never cut."""
    top_words: int = 25
    """How many of the words that are attended to most are asked with (DRAGIN's top n)."""


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """What a query is built from.

    ``words`` are the judged words of the drafted sentence (empty where none was drafted),
    ``accepted`` the sentences accepted so far, ``recent_tokens`` the texts of the last tokens
    written (for ``last_n_tokens``), ``attended`` the words of question and answer, in text order,
    that the trigger attends to (for ``attention``).
    """

    question: str
    settings: QuerySettings
    words: tuple[JudgedWord, ...] = ()
    accepted: tuple[str, ...] = ()
    recent_tokens: tuple[str, ...] = ()
    attended: tuple[AttendedWord, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """What the retriever is asked, and how it came about.

    ``kept`` are the positions of the drafted sentence's words that are in the query;
    ``fell_back`` says that the formulation was empty and the question stands in its place.
    """

    text: str
    formulation: Formulation
    kept: tuple[int, ...] = ()
    fell_back: bool = False


# --- retriever ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MetadataField:
    """A keyword field of a passage, and its values."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as it is indexed. Each field of ``metadata`` is one that the index declares."""

    id: str
    title: str
    text: str
    metadata: tuple[MetadataField, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A passage found for a query."""

    id: str
    title: str
    text: str
    score: float
    rank: int
    metadata: tuple[MetadataField, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """Fits the passages that carry any of the values in the field."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RetrieveRequest:
    """Queries for one index; passages are found that fit all the filters."""

    queries: tuple[str, ...]
    top_k: int
    index: str
    filters: tuple[Filter, ...] = ()


class VectorMetric(enum.StrEnum):
    """What says how near a passage's vector is to the query's."""

    INNER_PRODUCT = "ip"
    """The score is the inner product."""
    L2 = "l2"
    """The score is the squared distance, below zero."""


@dataclass(frozen=True, slots=True)
class HnswSettings:
    """A graph of near vectors, searched in place of all of them (HNSW; Malkov, Yashunin, 2018)."""

    m: int = 32
    """Neighbours of a vector in the graph; twice as many in its lowest layer."""
    ef_construction: int = 200
    """Candidates looked at when a vector is put in."""
    ef_search: int = 100
    """Candidates looked at by a search."""


@dataclass(frozen=True, slots=True)
class DenseSettings:
    """How an index of vectors is searched; without ``hnsw`` exactly, with every vector."""

    metric: VectorMetric = VectorMetric.INNER_PRODUCT
    hnsw: HnswSettings | None = None


@dataclass(frozen=True, slots=True)
class DenseDescription:
    """The vectors of an index: by which encoder, how wide, and how they are searched."""

    encoder: str
    encoder_revision: str
    width: int
    settings: DenseSettings


@dataclass(frozen=True, slots=True)
class IndexDescription:
    """An index: ``version`` changes with its content."""

    name: str
    version: str
    passages: int
    engine: str
    k1: float
    b: float
    created: str
    """When it was built, RFC 3339 in UTC."""
    size_bytes: int
    metadata_fields: tuple[str, ...] = ()
    """The fields that its passages may carry, by name."""
    damage: str = ""
    """What is wrong with it, in a list of indexes; the other fields hold what can be told."""
    dense: DenseDescription | None = None
    """Its vectors; None for an index of words, by BM25."""
    content: str = ""
    """A digest of its passages alone, whatever their order: equal for indexes of the same passages.
    Empty where it was built by a version that kept none."""


@dataclass(frozen=True, slots=True)
class IndexCheck:
    """One thing of an index, what was found there, and whether it is as the index says."""

    name: str
    found: str
    right: bool


@dataclass(frozen=True, slots=True)
class IndexVerification:
    """An index held against what it says of itself; ``version`` is empty where it does not say."""

    index: str
    version: str
    checks: tuple[IndexCheck, ...]

    @property
    def is_whole(self) -> bool:
        """Everything that was looked at is right."""
        return all(check.right for check in self.checks)


class IndexMode(enum.StrEnum):
    """What becomes of the index of that name that is there already."""

    CREATE = "create"
    """It is kept; the name must be free."""
    REPLACE = "replace"
    """The new one takes its place."""
    UPSERT = "upsert"
    """Passages are put into it by their ids; it is made where it is not there."""


@dataclass(frozen=True, slots=True)
class IndexResult:
    """An index as it was built, and what became of the passages given.

    ``replaced`` of them took the place of one with the same id, ``added`` are new; the index's
    ``passages`` are the total.
    """

    index: IndexDescription
    added: int
    replaced: int = 0


@dataclass(frozen=True, slots=True)
class RetrieveResult:
    """The passages for each query, best first, and the version of the index that gave them."""

    index: str
    version: str
    results: tuple[tuple[RetrievedPassage, ...], ...]


# --- answers --------------------------------------------------------------------------------


class Trigger(enum.StrEnum):
    """What makes a draft uncertain, so that it is retrieved for (:mod:`scaar.core.triggers`)."""

    FLARE = "flare"
    EXP_RAW = "exp_raw"
    SURPRISAL = "surprisal"
    ATTENTION = "attention"
    RIND = "rind"
    RIND_REFERENCE = "rind_reference"
    ETC = "etc"
    MEAN_ENTROPY = "mean_entropy"
    PERPLEXITY = "perplexity"


class Granularity(enum.StrEnum):
    """What is held against a threshold."""

    WORD = "word"
    TOKEN = "token"


class Truncation(enum.StrEnum):
    """From where a draft that is uncertain is written again (DRAGIN Eq. 6)."""

    SENTENCE = "sentence"
    """From its beginning, as DRAGIN's authors' code does and SCAAR compares it."""
    TOKEN = "token"
    """From the word that triggered, as DRAGIN prints it: what stands before is kept."""


class When(enum.StrEnum):
    """When a policy retrieves."""

    NEVER = "never"
    ONCE = "once"
    UNCERTAIN_DRAFT = "uncertain_draft"
    EVERY_SENTENCE = "every_sentence"
    EVERY_WINDOW = "every_window"


class Gate(enum.StrEnum):
    """What judges, once an answer, whether its question may be retrieved for at all."""

    GECE_PROXY = "gece_proxy"
    """A model learned from GECE's labels (:mod:`scaar.core.gates.proxy`); the project's own."""


class SettingSource(enum.StrEnum):
    """Where the value of a setting came from."""

    PAPER = "paper"
    MODEL = "model"
    REQUEST = "request"
    GATE = "gate"
    """The gate's file."""


@dataclass(frozen=True, slots=True)
class PolicyOverrides:
    """Settings that a request asks for in place of a policy's own; None leaves it as it is."""

    theta: float | None = None
    theta_cap: float | None = None
    trigger: Trigger | None = None
    granularity: Granularity | None = None
    spare_stop_words: bool | None = None
    truncate: Truncation | None = None
    query: Formulation | None = None
    alpha: float | None = None
    include_question: bool | None = None
    word_order: WordOrder | None = None
    last_n_tokens: int | None = None
    top_words: int | None = None
    top_k: int | None = None
    window_tokens: int | None = None
    max_passages: int | None = None
    gate: Gate | None = None
    gate_threshold: float | None = None


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """A policy by name, and what is to be different about it."""

    name: str = "scaar"
    overrides: PolicyOverrides = PolicyOverrides()


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """A policy as it was run: every setting, and where the ones that vary came from.

    ``trigger`` is None where nothing is judged. ``spare_stop_words``: a stop word is never
    uncertain (DRAGIN Eq. 4, s_i). ``window_tokens`` is the length of a window, 0 where the policy
    goes by sentences; ``max_passages`` the most that accumulate over an answer, 0 where a
    retrieval's passages take the place of those before. With a ``gate`` only questions that it
    finds at least as likely of the long tail as ``gate_threshold`` are retrieved for.
    """

    name: str
    when: When
    theta: float
    theta_cap: float
    query: QuerySettings
    top_k: int
    trigger: Trigger | None = None
    granularity: Granularity = Granularity.WORD
    spare_stop_words: bool = False
    truncate: Truncation = Truncation.SENTENCE
    window_tokens: int = 0
    max_passages: int = 0
    sources: tuple[tuple[str, SettingSource], ...] = ()
    gate: Gate | None = None
    gate_threshold: float | None = None


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """The most that one answer may spend."""

    max_sentences: int = 16
    max_tokens: int = 512
    """Generated tokens, drafts and regenerations together."""
    max_retrievals: int = 16
    timeout_s: float = 60.0


class OnFailure(enum.StrEnum):
    """What becomes of an answer when its scorer, query builder or retriever fails."""

    FAIL = "fail"
    """The answer fails with that error."""
    ACCEPT_DRAFT = "accept_draft"
    """The sentence stands as the model wrote it, and says so."""


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question to be answered.

    ``prompt_profile`` empty takes the model's own; ``request_id`` empty has one made. Every
    retrieval is for passages that fit all the ``filters``.
    """

    question: str
    policy: PolicyRequest = PolicyRequest()
    index: str = "lab"
    budget: BudgetLimits = BudgetLimits()
    prompt_profile: str = ""
    request_id: str = ""
    on_failure: OnFailure = OnFailure.FAIL
    filters: tuple[Filter, ...] = ()


class AnswerEnd(enum.StrEnum):
    """Why an answer ended."""

    ANSWER_PHRASE = "answer_phrase"
    END_OF_SEQUENCE = "end_of_sequence"
    MAX_SENTENCES = "max_sentences"
    MAX_TOKENS = "max_tokens"


@dataclass(frozen=True, slots=True)
class Usage:
    """The bill of an answer. Token counts are of every call, drafts that were dropped too.

    ``latency_ms`` is the whole time; the others are what of it was spent waiting for the model, the
    scorer and the retriever. They may overlap, since a model writes on while its draft is judged.
    """

    retrievals: int
    llm_calls: int
    generated_tokens: int
    prompt_tokens: int
    latency_ms: float
    generation_ms: float = 0.0
    scoring_ms: float = 0.0
    retrieval_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Degradation:
    """What failed, so that a sentence stands as the model wrote it by itself.

    ``reason`` is the error's, UPPER_SNAKE (:mod:`scaar.core.errors`).
    """

    stage: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class AcceptedSentence:
    """A sentence of the answer, and the ids of the passages that it was written from.

    ``degraded`` says what failed where the policy would have done more for it.
    """

    text: str
    passage_ids: tuple[str, ...] = ()
    concluding: bool = False
    degraded: Degradation | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """What made an answer. ``scorer`` and ``index_version`` are empty where none was used.

    ``continuation`` says how the model went on from what was written before, ``logprob_kind``
    whether it was judged by its own distribution.
    """

    request_id: str
    model: str
    model_revision: str
    engine: str
    scorer: str
    scorer_revision: str
    index: str
    index_version: str
    prompt_profile: str
    policy: EffectivePolicy
    continuation: ContinuationKind = ContinuationKind.NATIVE
    logprob_kind: LogprobKind = LogprobKind.UNKNOWN
    index_content: str = ""
    """The digest of the index's passages alone."""
    encoder: str = ""
    encoder_revision: str = ""
    """Those of a dense index's encoder; empty of an index by BM25."""
    gate_revision: str = ""
    """A digest of the gate's file; empty without a gate."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: the short form, the whole text by sentences, the bill and the provenance."""

    answer: str
    sentences: tuple[AcceptedSentence, ...]
    end: AnswerEnd
    usage: Usage
    provenance: Provenance

    @property
    def text(self) -> str:
        """The whole text, exactly as it was written."""
        return "".join(sentence.text for sentence in self.sentences)

    @property
    def degraded(self) -> bool:
        """Some sentence is."""
        return any(sentence.degraded is not None for sentence in self.sentences)


# --- events, in the order of an answer --------------------------------------------------------


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
GenerationEvent = GenerationStart | Token | GenerationEnd
