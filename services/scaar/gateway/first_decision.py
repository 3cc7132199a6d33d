"""Whether a policy retrieves for a question: the first decision of its answer, or of a draft."""

from contextlib import aclosing
from dataclasses import replace
from typing import Any

from scaar.core.policies.no_retrieval import NO_RETRIEVAL
from scaar.core.types import (
    AnswerStarted,
    GateJudged,
    JudgeDraftRequest,
    QueryBuilt,
    RequestKind,
    SentenceAccepted,
    SentenceJudged,
)
from scaar.gateway.orchestrator import Caller
from scaar.gateway.parameters import AnswerParameters
from scaar.wire.messages.events import answer_event_to_json

Json = dict[str, Any]


async def first_decision(caller: Caller, parameters: AnswerParameters) -> Json:
    """Return the first decision of an answer, which is cancelled after it."""
    policy = ""
    request = replace(parameters.request, omit_drafted_tokens=True, kind=RequestKind.PROBE)
    async with aclosing(caller.answerer.stream_answer(request)) as events:
        async for event in events:
            match event:
                case AnswerStarted():
                    policy = event.provenance.policy.name
                case GateJudged(policy=NO_RETRIEVAL.name):
                    # Behind another gate, or for another route, drafts can still be uncertain.
                    break
                case SentenceJudged():
                    return _judged(policy, event)
                case SentenceAccepted():
                    break
                case QueryBuilt():
                    return _undrafted(policy, retrieving=True)
    return _undrafted(policy, retrieving=False)


async def given_decision(caller: Caller, parameters: AnswerParameters, draft: str) -> Json:
    """Return the decision on a given draft.

    It is that on the first sentence for which the policy retrieves, or on the last one.
    """
    request = parameters.request
    found = await caller.answerer.judge_draft(
        JudgeDraftRequest(request.question, draft, policy=request.policy, index=request.index)
    )
    policy = found.provenance.policy.name
    if not found.sentences:
        # The first sentence has the answer phrase.
        return _undrafted(policy, retrieving=False)
    return _judged(policy, found.sentences[-1]) | {"query": found.query.text if found.query else ""}


def _judged(policy: str, event: SentenceJudged) -> Json:
    words = [
        {"text": each.text, "probability": each.probability, "threshold": each.threshold}
        for each in event.words
        if each.uncertain
    ]
    return {
        "policy": policy,
        "would_retrieve": event.retrieving,
        "draft": event.text.strip(),
        "words": words,
        "decision": answer_event_to_json(event),
    }


def _undrafted(policy: str, *, retrieving: bool) -> Json:
    return {"policy": policy, "would_retrieve": retrieving, "draft": "", "words": []}
