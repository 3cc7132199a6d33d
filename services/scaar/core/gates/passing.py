"""A gate passed or not: the question judged once, by its words and the first drafted sentence."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from scaar.core.answering import Answering
from scaar.core.draft_then_judge import drafting
from scaar.core.gates.proxy import GateProxy
from scaar.core.types import AnswerEvent, GateJudged, Token, When
from scaar.core.writer import Sentence


async def pass_gate(answering: Answering, proxy: GateProxy) -> AsyncGenerator[AnswerEvent, None]:
    """The events of the gate, after which a common question is the model's alone.

    The draft that it judges by is the first sentence's, unless the policy looks up before it
    drafts: then it is dropped, and its tokens are not told.
    """
    policy, judges = answering.policy, answering.policy.when is When.UNCERTAIN_DRAFT
    assert policy.gate is not None
    assert policy.gate_threshold is not None
    draft, held = None, list[Token]()
    async with aclosing(drafting(answering)) as parts:
        async for part in parts:
            if isinstance(part, Sentence):
                draft = part
            elif judges:
                yield answering.drafted(part)
            else:
                held.append(part)
    assert draft is not None
    evidence = proxy.evidence(answering.request.question, draft.tokens)
    probability = proxy.probability(evidence)
    answering.common = probability < policy.gate_threshold
    yield GateJudged(
        gate=policy.gate,
        long_tail=not answering.common,
        probability=probability,
        threshold=policy.gate_threshold,
        average_frequency=evidence.average_frequency,
        rarest_frequency=evidence.rarest_frequency,
        confidence=evidence.confidence,
    )
    if judges or answering.common:
        answering.begun = draft
        for token in held:
            yield answering.drafted(token)
    else:
        await answering.writer.stop()
