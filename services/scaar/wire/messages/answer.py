"""Requests for answers, and answers."""

from typing import TypeVar

from scaar.core.types import (
    AcceptedSentence,
    Answer,
    AnswerRequest,
    BudgetLimits,
    ContinuationKind,
    Degradation,
    LogprobKind,
    OnFailure,
    PolicyRequest,
    Provenance,
    Usage,
)
from scaar.v1 import answer_pb2 as pb
from scaar.v1 import orchestrator_pb2
from scaar.wire.messages.enums import ANSWER_END, CONTINUATION_KIND, LOGPROB_KIND, ON_FAILURE
from scaar.wire.messages.fields import carried_int, carried_text, finite, required
from scaar.wire.messages.policy import (
    effective_policy_from_pb,
    effective_policy_to_pb,
    policy_request_from_pb,
    policy_request_to_pb,
)
from scaar.wire.messages.retrieval import filters_from_pb, filters_to_pb

_Request = TypeVar("_Request", orchestrator_pb2.AnswerRequest, orchestrator_pb2.StreamAnswerRequest)
_BUDGET = BudgetLimits()
_INDEX = AnswerRequest("").index


def answer_request_to_pb(request: AnswerRequest, message: type[_Request]) -> _Request:
    """The request as the message of one of the two calls; their fields are the same."""
    return message(
        question=carried_text("question", request.question),
        policy=policy_request_to_pb(request.policy),
        index=carried_text("index", request.index),
        budget=orchestrator_pb2.Budget(
            max_sentences=carried_int("budget.max_sentences", request.budget.max_sentences),
            max_tokens=carried_int("budget.max_tokens", request.budget.max_tokens),
            max_retrievals=carried_int("budget.max_retrievals", request.budget.max_retrievals),
            timeout_s=request.budget.timeout_s,
        ),
        prompt_profile=carried_text("prompt_profile", request.prompt_profile),
        request_id=carried_text("request_id", request.request_id),
        on_failure=ON_FAILURE.to_pb(request.on_failure),
        filters=filters_to_pb(request.filters),
    )


def answer_request_from_pb(
    message: orchestrator_pb2.AnswerRequest | orchestrator_pb2.StreamAnswerRequest,
) -> AnswerRequest:
    has_policy = message.HasField("policy")
    on_failure = OnFailure.FAIL
    if message.HasField("on_failure"):
        on_failure = ON_FAILURE.from_pb(message.on_failure, "on_failure")
    return AnswerRequest(
        question=message.question,
        policy=policy_request_from_pb(message.policy) if has_policy else PolicyRequest(),
        index=message.index if message.HasField("index") else _INDEX,
        budget=_budget_from_pb(message.budget),
        prompt_profile=message.prompt_profile,
        request_id=message.request_id,
        on_failure=on_failure,
        filters=filters_from_pb(message.filters),
    )


def _budget_from_pb(message: orchestrator_pb2.Budget) -> BudgetLimits:
    sentences, tokens = _BUDGET.max_sentences, _BUDGET.max_tokens
    retrievals, timeout_s = _BUDGET.max_retrievals, _BUDGET.timeout_s
    if message.HasField("timeout_s"):
        timeout_s = finite("budget.timeout_s", message.timeout_s)
    return BudgetLimits(
        max_sentences=message.max_sentences if message.HasField("max_sentences") else sentences,
        max_tokens=message.max_tokens if message.HasField("max_tokens") else tokens,
        max_retrievals=message.max_retrievals if message.HasField("max_retrievals") else retrievals,
        timeout_s=timeout_s,
    )


def answer_to_pb(answer: Answer) -> pb.Answer:
    return pb.Answer(
        answer=answer.answer,
        sentences=[accepted_to_pb(sentence) for sentence in answer.sentences],
        end=ANSWER_END.to_pb(answer.end),
        usage=usage_to_pb(answer.usage),
        provenance=provenance_to_pb(answer.provenance),
    )


def answer_from_pb(message: pb.Answer) -> Answer:
    return Answer(
        answer=message.answer,
        sentences=tuple(accepted_from_pb(sentence) for sentence in message.sentences),
        end=ANSWER_END.from_pb(message.end, "answer.end"),
        usage=usage_from_pb(message.usage, "answer.usage"),
        provenance=provenance_from_pb(message.provenance),
    )


def usage_to_pb(usage: Usage) -> pb.Usage:
    return pb.Usage(
        retrievals=usage.retrievals,
        llm_calls=usage.llm_calls,
        generated_tokens=usage.generated_tokens,
        prompt_tokens=usage.prompt_tokens,
        latency_ms=usage.latency_ms,
        generation_ms=usage.generation_ms,
        scoring_ms=usage.scoring_ms,
        retrieval_ms=usage.retrieval_ms,
    )


def usage_from_pb(message: pb.Usage, field: str) -> Usage:
    return Usage(
        retrievals=message.retrievals,
        llm_calls=message.llm_calls,
        generated_tokens=message.generated_tokens,
        prompt_tokens=message.prompt_tokens,
        latency_ms=finite(f"{field}.latency_ms", message.latency_ms),
        generation_ms=finite(f"{field}.generation_ms", message.generation_ms),
        scoring_ms=finite(f"{field}.scoring_ms", message.scoring_ms),
        retrieval_ms=finite(f"{field}.retrieval_ms", message.retrieval_ms),
    )


def accepted_to_pb(sentence: AcceptedSentence) -> pb.AcceptedSentence:
    degraded = sentence.degraded
    return pb.AcceptedSentence(
        text=sentence.text,
        passage_ids=sentence.passage_ids,
        concluding=sentence.concluding,
        degraded=_degradation_to_pb(degraded) if degraded else None,
    )


def _degradation_to_pb(degraded: Degradation) -> pb.Degradation:
    return pb.Degradation(stage=degraded.stage, reason=degraded.reason, message=degraded.message)


def accepted_from_pb(message: pb.AcceptedSentence) -> AcceptedSentence:
    degraded = None
    if message.HasField("degraded"):
        failed = message.degraded
        degraded = Degradation(failed.stage, failed.reason, failed.message)
    return AcceptedSentence(message.text, tuple(message.passage_ids), message.concluding, degraded)


def provenance_to_pb(provenance: Provenance) -> pb.Provenance:
    return pb.Provenance(
        request_id=provenance.request_id,
        model=provenance.model,
        model_revision=provenance.model_revision,
        engine=provenance.engine,
        scorer=provenance.scorer,
        scorer_revision=provenance.scorer_revision,
        index=provenance.index,
        index_version=provenance.index_version,
        prompt_profile=provenance.prompt_profile,
        policy=effective_policy_to_pb(provenance.policy),
        continuation=CONTINUATION_KIND.to_pb(provenance.continuation),
        logprob_kind=LOGPROB_KIND.to_pb(provenance.logprob_kind),
        gate_revision=provenance.gate_revision,
        index_content=provenance.index_content,
        encoder=provenance.encoder,
        encoder_revision=provenance.encoder_revision,
    )


def provenance_from_pb(message: pb.Provenance) -> Provenance:
    required("provenance.policy", message.HasField("policy"))
    return Provenance(
        request_id=message.request_id,
        model=message.model,
        model_revision=message.model_revision,
        engine=message.engine,
        scorer=message.scorer,
        scorer_revision=message.scorer_revision,
        index=message.index,
        index_version=message.index_version,
        prompt_profile=message.prompt_profile,
        policy=effective_policy_from_pb(message.policy),
        # An orchestrator of before they could be told says neither.
        continuation=(
            CONTINUATION_KIND.from_pb(message.continuation, "provenance.continuation")
            if message.continuation
            else ContinuationKind.NATIVE
        ),
        logprob_kind=(
            LOGPROB_KIND.from_pb(message.logprob_kind, "provenance.logprob_kind")
            if message.logprob_kind
            else LogprobKind.UNKNOWN
        ),
        gate_revision=message.gate_revision,
        index_content=message.index_content,
        encoder=message.encoder,
        encoder_revision=message.encoder_revision,
    )
