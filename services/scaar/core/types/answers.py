"""A question to be answered, and its answer."""

import enum
from dataclasses import dataclass

from scaar.core.types.generation import ContinuationKind, LogprobKind
from scaar.core.types.policies import EffectivePolicy, PolicyRequest
from scaar.core.types.retrieval import Filter


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
