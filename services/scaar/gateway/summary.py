"""What an answer reports beyond OpenAI's interface: usage, passages and decisions."""

from typing import Any

from scaar.core.types import Abstention, AbstentionReason, RequestKind, Usage
from scaar.gateway.answers import Completed
from scaar.gateway.content import Link
from scaar.gateway.parameters import AnswerParameters


def summary(completed: Completed, parameters: AnswerParameters, link: Link) -> dict[str, Any]:
    """Return the field ``scaar`` of an answer."""
    answer, provenance = completed.answer, completed.answer.provenance
    supporting = answer.supporting_passage_ids
    found: dict[str, Any] = {
        "request_id": provenance.request_id,
        "answer": answer.answer,
        "policy": provenance.policy.name,
        "model": provenance.model,
        "index": provenance.index,
        "index_version": provenance.index_version,
        "end": answer.end.value,
        "degraded": answer.degraded,
        "passages": [
            {
                "id": each.id,
                "title": each.title,
                "url": link.of(each),
                "supports": each.id in supporting,
            }
            for each in answer.passages
        ],
        "unsupported": [
            {"start_index": start, "end_index": end} for start, end in completed.unsupported
        ],
    }
    if answer.question:
        found["question"] = answer.question
    if (abstained := answer.abstained) is not None:
        found["abstained"] = _abstained(abstained)
    if parameters.request.ignored:
        found["ignored"] = list(parameters.request.ignored)
    if parameters.request.kind is RequestKind.TASK:
        found["kind"] = RequestKind.TASK.value
    if completed.decisions:
        found["decisions"] = list(completed.decisions)
    return found


def _abstained(abstained: Abstention) -> dict[str, Any]:
    reason: dict[str, Any] = {"reason": abstained.reason.value}
    if abstained.reason is AbstentionReason.GATE:
        reason |= {"p_correct": abstained.p_correct, "limit": abstained.limit}
    return reason


def extra_usage(usage: Usage) -> dict[str, Any]:
    """Return the counts of an answer that OpenAI's usage lacks."""
    return {
        "retrievals": usage.retrievals,
        "searches": usage.searches,
        "llm_calls": usage.llm_calls,
    }
