"""Requests for answers, and answers."""

import enum
from dataclasses import dataclass

from scaar.core.types.conversation import Message, RequestKind, Rewrite
from scaar.core.types.generation import ContinuationKind, LogprobKind
from scaar.core.types.policies import EffectivePolicy, PolicyRequest
from scaar.core.types.retrieval import Filter, Passage

DEFAULT_POLICY = PolicyRequest("")
"""The default policy of the orchestrator."""


ANSWER_TIMEOUT_S = 60.0
"""Time limit of an answer, in seconds, of services and evaluations that set no other."""


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """Limits of one answer."""

    max_sentences: int = 16
    """Maximum number of sentences, 1 to 100. Those of one list, table or code block count as one,
    and a block that reaches the limit is completed, with the sentence after it."""
    max_tokens: int = 512
    """Maximum number of generated tokens, drafts and regenerations together, 1 to 8192."""
    max_retrievals: int = 16
    """Maximum number of retrievals, 0 to 100."""
    timeout_s: float | None = None
    """Maximum duration, in seconds, (0, 3600]. None is the limit of the service that answers; an
    embedded orchestrator has none."""


class OnFailure(enum.StrEnum):
    """Reaction of an answer to a failing scorer, query builder or retriever."""

    FAIL = "fail"
    """The answer fails with the same error."""
    ACCEPT_DRAFT = "accept_draft"
    """The draft of the sentence is accepted, and the sentence reports it in ``degraded``."""


class AnswerForm(enum.StrEnum):
    """The form of an answer."""

    SHORT = "short"
    """The text ends with a conclusion, which has the short answer; a model that does not conclude
    is made to."""
    TEXT = "text"
    """The text as the model writes it, without a short answer. A model that was trained to conclude
    answers as with ``short``."""


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question, and how to answer it.

    An empty ``index`` selects the default index of the orchestrator, an empty ``prompt_profile``
    the profile of the model, an empty ``request_id`` a new id.
    Every retrieval returns only passages that match all ``filters``.
    """

    question: str = ""
    policy: PolicyRequest = DEFAULT_POLICY
    index: str = ""
    budget: BudgetLimits = BudgetLimits()
    prompt_profile: str = ""
    request_id: str = ""
    on_failure: OnFailure = OnFailure.FAIL
    filters: tuple[Filter, ...] = ()
    messages: tuple[Message, ...] = ()
    """A conversation, in place of the question. The last message is the user's question."""
    rewrite: Rewrite = Rewrite.AUTO
    logprobs: bool = False
    """Whether accepted sentences have their tokens with log-probabilities."""
    answer: AnswerForm = AnswerForm.SHORT
    """The form of the answer."""
    kind: RequestKind = RequestKind.QUESTION
    """What the request is, for its record."""
    ignored: tuple[str, ...] = ()
    """Names of what a client sent and the answer does not depend on, for its record."""
    provenance_only: bool = False
    """Whether the stream ends after :class:`AnswerStarted`. It is no answer: no watch observes it,
    and it has no record."""
    omit_drafted_tokens: bool = False
    """Whether a remote orchestrator leaves out :class:`TokenDrafted`, most events of an answer."""

    @property
    def last_question(self) -> str:
        """The question: that of the last message, if there are messages."""
        return self.messages[-1].content if self.messages else self.question


@dataclass(frozen=True, slots=True)
class JudgeDraftRequest:
    """A draft to judge: sentences of an answer to a question, after the ``accepted`` text.

    The other fields are those of :class:`AnswerRequest`.
    """

    question: str = ""
    draft: str = ""
    accepted: str = ""
    policy: PolicyRequest = DEFAULT_POLICY
    index: str = ""
    budget: BudgetLimits = BudgetLimits()
    prompt_profile: str = ""
    request_id: str = ""
    messages: tuple[Message, ...] = ()
    rewrite: Rewrite = Rewrite.AUTO

    def for_answer(self) -> AnswerRequest:
        """Return the request for an answer by which the draft is judged."""
        return AnswerRequest(
            question=self.question,
            policy=self.policy,
            index=self.index,
            budget=self.budget,
            prompt_profile=self.prompt_profile,
            request_id=self.request_id,
            messages=self.messages,
            rewrite=self.rewrite,
        )


class AnswerEnd(enum.StrEnum):
    """Why an answer ended."""

    ANSWER_PHRASE = "answer_phrase"
    END_OF_SEQUENCE = "end_of_sequence"
    MAX_SENTENCES = "max_sentences"
    MAX_TOKENS = "max_tokens"


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of an answer. Token counts cover every call, including discarded drafts.

    ``latency_ms`` is the total time. The other times are the parts of it spent waiting for the
    model, the scorer and the retriever. They can overlap, because a model keeps writing while its
    draft is judged.
    """

    retrievals: int
    llm_calls: int
    generated_tokens: int
    prompt_tokens: int
    latency_ms: float
    generation_ms: float = 0.0
    scoring_ms: float = 0.0
    retrieval_ms: float = 0.0
    searches: int = 0
    """Number of queries to the retriever: one of each retrieval, two of a fused query."""
    thinking_tokens: int = 0
    """Tokens that the model generated as thoughts before its text; not in ``generated_tokens``."""
    uncounted_calls: int = 0
    """Calls whose model server did not report the prompt tokens, which ``prompt_tokens`` lacks."""
    unscored_sentences: int = 0
    """Drafts that were judged without contributions, because the scorer cannot read them."""
    evaluated_prompt_tokens: int = 0
    """Those of ``prompt_tokens`` that the model read, and did not have in a cache; all those of a
    call whose engine does not report it."""


@dataclass(frozen=True, slots=True)
class Degradation:
    """The failure for which the draft of a sentence was accepted.

    ``reason`` is the reason of the error, UPPER_SNAKE (:mod:`scaar.core.errors`).
    """

    stage: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class AcceptedToken:
    """A token of an accepted sentence: its part of the sentence, and its log-probability.

    ``logprob`` is that of the whole token when the model wrote it; None if the engine returned
    none, and for text that the model did not write.
    """

    text: str
    logprob: float | None = None


@dataclass(frozen=True, slots=True)
class AcceptedSentence:
    """A sentence of the answer, and the ids of the passages that it was written from.

    ``supporting_passage_ids`` are those of ``passage_ids`` that state its content
    (:mod:`scaar.core.text.support`). ``concluding`` marks a sentence with the answer phrase.
    ``degraded`` is the failure for which the draft was accepted, if any. ``tokens``, whose texts
    concatenated are the text, are empty if the request does not set ``logprobs``.
    """

    text: str
    passage_ids: tuple[str, ...] = ()
    concluding: bool = False
    degraded: Degradation | None = None
    tokens: tuple[AcceptedToken, ...] = ()
    supporting_passage_ids: tuple[str, ...] = ()

    @property
    def lacks_support(self) -> bool:
        """Whether the sentence was written from passages, and none of them supports it."""
        return bool(self.passage_ids) and not self.supporting_passage_ids


@dataclass(frozen=True, slots=True)
class Provenance:
    """The models, the index and the policy of an answer.

    ``scorer`` and ``index_version`` are empty if the answer used none. ``continuation`` is how the
    model continued the text so far, ``logprob_kind`` whether the log-probabilities are those of the
    model's own distribution.
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
    """Digest of the passages of the index."""
    encoder: str = ""
    encoder_revision: str = ""
    """Name and revision of the encoder of a dense index; empty for an index by BM25."""
    gate_revision: str = ""
    """Digest of the gate's file; empty without a gate, and for a gate without a file."""
    artefact: str = ""
    artefact_digest: str = ""
    """Name and digest of the artefact of a tuned policy; empty for a published policy."""
    artefact_mismatch: tuple[str, ...] = ()
    """Each difference between what the policy was tuned on and what the answer used."""
    sentence_filter_digest: str = ""
    """Digest of the sentence filter; empty if the policy uses none."""
    corpus_counts_digest: str = ""
    """Digest of the corpus counts; empty if the policy uses none."""
    reranker: str = ""
    reranker_revision: str = ""
    """Name and revision of the cross-encoder that reranks passages; empty if the policy does not
    rerank, and without a revision for that of another server."""
    scorer_mismatch: str = ""
    """How the scorer does not fit model or index, where that is allowed; empty if all fits."""


class AbstentionReason(enum.StrEnum):
    """Why there is no answer to give."""

    GATE = "gate"
    """A gate's probability that the answer is correct is below its limit."""
    NOT_IN_DOCUMENTS = "not_in_documents"
    """The model wrote, after a retrieval, that it does not know."""
    UNSUPPORTED = "unsupported"
    """The answer says what no passage that it was written from has."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """There is no answer to give.

    ``p_correct`` and ``limit``, which is ``abstain_below`` of the gate's file, are 0 unless a gate
    judged the answer.
    """

    p_correct: float
    limit: float
    reason: AbstentionReason = AbstentionReason.GATE


NOT_IN_DOCUMENTS = Abstention(0.0, 0.0, AbstentionReason.NOT_IN_DOCUMENTS)
"""The abstention of a model that found no answer in the passages."""
UNSUPPORTED = Abstention(0.0, 0.0, AbstentionReason.UNSUPPORTED)
"""The abstention of an answer that says what no passage has."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: the short form, the whole text as sentences, the usage and the provenance.

    ``answer`` is empty in the form ``text``, and if the model concludes nothing.
    ``passages`` are the passages that the sentences cite in ``passage_ids``, each once, in the
    order of their first citation. Texts longer than 10,000 characters are cut; with a sentence
    filter, they have the kept sentences only.
    """

    answer: str
    sentences: tuple[AcceptedSentence, ...]
    end: AnswerEnd
    usage: Usage
    provenance: Provenance
    passages: tuple[Passage, ...] = ()
    abstained: Abstention | None = None
    """Why there is no answer to give; the text is kept. None for an answer that is given."""
    question: str = ""
    """The standalone question into which the last one of the conversation was rewritten; empty if
    it was not."""

    @property
    def text(self) -> str:
        """The whole text, exactly as it was written.

        The offsets of :class:`~scaar.core.types.SentenceAccepted` count in this text.
        """
        return "".join(sentence.text for sentence in self.sentences)

    @property
    def shown(self) -> str:
        """What a reader is shown first: the short answer, or the whole text without one."""
        return self.answer or self.text.strip()

    @property
    def supporting_passage_ids(self) -> frozenset[str]:
        """The passages that support a sentence."""
        return frozenset(
            passage_id
            for sentence in self.sentences
            for passage_id in sentence.supporting_passage_ids
        )

    @property
    def degraded(self) -> bool:
        """Whether any sentence is degraded."""
        return any(sentence.degraded is not None for sentence in self.sentences)
