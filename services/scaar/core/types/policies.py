"""Policies: their choices, the overrides of a request, and the effective settings."""

import enum
from dataclasses import dataclass, fields

from scaar.core.types.learned import LearnedTrigger
from scaar.core.types.queries import QuerySettings, WordOrder
from scaar.core.types.retrieval import SearchMode


class Granularity(enum.StrEnum):
    """Unit that is compared with a threshold."""

    WORD = "word"
    TOKEN = "token"


class Truncation(enum.StrEnum):
    """Start of the part of an uncertain draft that is regenerated (DRAGIN Eq. 6)."""

    SENTENCE = "sentence"
    """The start of the sentence, as in the code of DRAGIN's authors and in SCAAR's comparison."""
    TOKEN = "token"
    """The triggering word, as printed in DRAGIN; the text before the word is kept."""


class AttentionSpan(enum.StrEnum):
    """Text over which the attention of a judged sentence is taken."""

    SENTENCE = "sentence"
    DRAFT = "draft"
    """The text that the model writes on from the last rewritten sentence, as in the code of
    DRAGIN's authors."""


class ExcludeSeen(enum.StrEnum):
    """Passages that later retrievals of an answer exclude."""

    NONE = "none"
    SEEN = "seen"
    """Every passage that was in a prompt from which the model wrote a part of the answer."""
    UNHELPFUL = "unhelpful"
    """The passages with which the model rewrote a sentence that was still uncertain afterwards."""


class SentenceFilter(enum.StrEnum):
    """Sentences of retrieved passages that reach the prompt."""

    NONE = "none"
    """All of them."""
    LEARNED = "learned"
    """Those that a fitted classifier finds useful (:mod:`scaar.core.sentence_filter`)."""


class Fusion(enum.StrEnum):
    """Order of the passages that two queries of one retrieval find."""

    RANK = "rank"
    """By the sum of reciprocal ranks."""
    ANGLES = "angles"
    """By the cosine of the sum of the angles between the passage and the two queries."""
    SUM = "sum"
    """By the sum of the cosines between the passage and the two queries."""


class FirstSearch(enum.StrEnum):
    """What a policy that retrieves before the first sentence searches for."""

    QUESTION = "question"
    """The question."""
    MENTIONS = "mentions"
    """The question, and then what it still asks for: passages whose title is mentioned
    (:mod:`scaar.core.loop.first_search`)."""


class Rerank(enum.StrEnum):
    """Order of the passages that a retrieval finds."""

    NONE = "none"
    """That of the search."""
    CROSS_ENCODER = "cross_encoder"
    """By relevance according to the retriever's cross-encoder, which reads query and passage."""


class Moment(enum.StrEnum):
    """Moment of an answer at which a policy can retrieve."""

    BEFORE_ANSWER = "before_answer"
    """Once, before the first sentence."""
    BEFORE_SENTENCE = "before_sentence"
    """Before every sentence except the concluding one."""
    BEFORE_WINDOW = "before_window"
    """Before every window of tokens except those of the concluding sentence."""
    UNCERTAIN_DRAFT = "uncertain_draft"
    """For every draft that the trigger finds uncertain."""

    AFTER_ANSWER = "after_answer"
    """After every answer but that of the last round; the answer is then written again. A policy
    with a trigger does so only if the trigger finds the answer, as a whole, uncertain."""

    ON_REQUEST = "on_request"
    """When the model asks for a search, in the tags of a dialect."""

    ON_REFLECTION = "on_reflection"
    """Before a segment that the model's reflection tokens request passages for."""


class SearchDialect(enum.StrEnum):
    """Tags in which a model requests searches (:mod:`scaar.core.prompts.dialects`)."""

    SEARCH_R1 = "search_r1"
    R1_SEARCHER = "r1_searcher"
    SEARCH_O1 = "search_o1"
    TOOL_CALL = "tool_call"


class SettingSource(enum.StrEnum):
    """Source of the value of a setting."""

    PAPER = "paper"
    """The method's paper, or its authors' code."""
    DEFAULT = "default"
    """The project's own choice, where no paper states a value."""
    MODEL = "model"
    """The model's recommendation."""
    REQUEST = "request"
    GATE = "gate"
    """The gate, by its file or its default."""
    ARTEFACT = "artefact"
    """The artefact of a tuned policy."""


@dataclass(frozen=True, slots=True)
class PolicyOverrides:
    """Settings of a request that override those of its policy; None keeps the policy's value."""

    theta: float | None = None
    theta_cap: float | None = None
    trigger: str | None = None
    granularity: Granularity | None = None
    spare_stop_words: bool | None = None
    truncate: Truncation | None = None
    query: str | None = None
    alpha: float | None = None
    include_question: bool | None = None
    word_order: WordOrder | None = None
    last_n_tokens: int | None = None
    top_words: int | None = None
    top_k: int | None = None
    window_tokens: int | None = None
    max_passages: int | None = None
    gate: str | None = None
    gate_threshold: float | None = None
    exclude_seen: ExcludeSeen | None = None
    mask_below: float | None = None
    attention_span: AttentionSpan | None = None
    draft_tokens: int | None = None
    rounds: int | None = None
    dialect: SearchDialect | None = None
    max_searches: int | None = None
    skip_above: float | None = None
    sentence_filter: SentenceFilter | None = None
    min_count: int | None = None
    retrieve_above: float | None = None
    judge_conclusion: bool | None = None
    fusion: Fusion | None = None
    search_mode: SearchMode | None = None
    rerank: Rerank | None = None
    rerank_depth: int | None = None
    first_search: FirstSearch | None = None

    def given(self) -> dict[str, float | int | bool | str]:
        """Return the settings that the request overrides, by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """A policy by name, with overrides of its settings.

    An empty name is the default policy of the orchestrator. The name of a tuned policy is resolved
    by the orchestrator that has its artefact: then ``name`` is the policy that it starts from,
    ``artefact`` the name of the artefact, and the overrides include its settings. With
    ``allow_mismatch``, a tuned policy is also used with a model, scorer or kind of index that it
    was not tuned on. ``learned`` are the parameters of the trigger ``learned``, from the artefact.
    """

    name: str = "scaar"
    overrides: PolicyOverrides = PolicyOverrides()
    learned: LearnedTrigger | None = None
    artefact: str = ""
    allow_mismatch: bool = False

    @property
    def label(self) -> str:
        """The name by which a client requests the policy."""
        return self.artefact or self.name


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """A policy as it runs: every setting, and the source of each adjustable one.

    ``name`` is that of the artefact if the policy is tuned.
    It retrieves at its ``moments``, never without one. ``trigger`` is None if the policy judges no
    drafts. With ``spare_stop_words``, a stop word is
    never uncertain (DRAGIN Eq. 4, s_i). ``window_tokens`` is the length of a window in tokens, 0 if
    the policy works on sentences. ``max_passages`` is the maximum number of passages accumulated
    over an answer, 0 if the passages of a retrieval replace the earlier ones. With a ``gate``, the
    policy retrieves only for questions whose judgement is at least ``gate_threshold``.
    Retrievals exclude earlier passages of the answer as ``exclude_seen`` states. Queries treat the
    words with a probability below ``mask_below`` as uncertain; if it is None, those that the
    trigger finds uncertain. Attention is taken over ``attention_span``; a draft has up to
    ``draft_tokens`` tokens. The answer is written ``rounds`` times. A model that asks
    uses the tags of the ``dialect`` for at most ``max_searches``; searches are skipped for queries
    whose tokens all have at least the probability ``skip_above``, if it is not None.
    ``sentence_filter`` decides which sentences of the retrieved passages reach the prompt, and
    ``fusion`` the order of passages that two queries find. ``min_count`` is the number of
    occurrences in the corpus below which an entity is rare. A model with reflection tokens
    retrieves if their probability of retrieving is above ``retrieve_above``. A draft with the
    answer phrase is judged if ``judge_conclusion`` is set. The index is searched
    in ``search_mode``, and ``rerank`` orders the best ``rerank_depth`` passages of a query.
    ``first_search`` is what is searched for before the first sentence.
    """

    name: str
    moments: tuple[Moment, ...]
    theta: float
    theta_cap: float
    query: QuerySettings
    top_k: int
    trigger: str | None = None
    granularity: Granularity = Granularity.WORD
    spare_stop_words: bool = False
    truncate: Truncation = Truncation.SENTENCE
    window_tokens: int = 0
    max_passages: int = 0
    sources: tuple[tuple[str, SettingSource], ...] = ()
    gate: str | None = None
    gate_threshold: float | None = None
    exclude_seen: ExcludeSeen = ExcludeSeen.NONE
    mask_below: float | None = None
    attention_span: AttentionSpan = AttentionSpan.SENTENCE
    draft_tokens: int = 128
    rounds: int = 1
    dialect: SearchDialect = SearchDialect.SEARCH_R1
    max_searches: int = 5
    skip_above: float | None = None
    sentence_filter: SentenceFilter = SentenceFilter.NONE
    min_count: int = 20
    retrieve_above: float = 0.2
    judge_conclusion: bool = True
    fusion: Fusion = Fusion.RANK
    search_mode: SearchMode = SearchMode.INDEX
    rerank: Rerank = Rerank.NONE
    rerank_depth: int = 30
    first_search: FirstSearch = FirstSearch.QUESTION
    learned: LearnedTrigger | None = None
    """The parameters of the trigger ``learned``; None for other triggers."""
