"""Whether a policy retrieves for a question: the first decision of its answer."""

from contextlib import aclosing
from typing import Any

from scaar.core.policies.no_retrieval import NO_RETRIEVAL
from scaar.core.types import (
    AnswerStarted,
    GateJudged,
    QueryBuilt,
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
    stream = caller.answerer.stream_answer(parameters.request, tokens=False)
    async with aclosing(stream) as events:
        async for event in events:
            match event:
                case AnswerStarted():
                    policy = event.provenance.policy.name
                case GateJudged(policy=NO_RETRIEVAL.name):
                    # Behind another gate, or for another route, drafts can still be uncertain.
                    break
                case SentenceJudged():
                    words = [
                        {
                            "text": each.text,
                            "probability": each.probability,
                            "threshold": each.threshold,
                        }
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
                case SentenceAccepted():
                    break
                case QueryBuilt():
                    return {"policy": policy, "would_retrieve": True, "draft": "", "words": []}
    return {"policy": policy, "would_retrieve": False, "draft": "", "words": []}
