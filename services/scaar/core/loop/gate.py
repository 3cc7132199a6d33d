"""The gate of an answer: judges the question once, before its first sentence is accepted."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from scaar.core.gates import QuestionGate
from scaar.core.loop.answer_state import AnswerState
from scaar.core.loop.draft_then_judge import drafting
from scaar.core.loop.gate_model import AnswerModel
from scaar.core.loop.writer import Sentence
from scaar.core.policies.no_retrieval import NO_RETRIEVAL
from scaar.core.types import AnswerEvent, GateJudged, ModelDescription, Moment, Token

_DISCARDING = frozenset({Moment.BEFORE_ANSWER, Moment.ON_REQUEST})
"""Moments of policies that begin with another prompt."""


async def pass_gate(
    state: AnswerState, gate: QuestionGate, described: ModelDescription
) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of the gate; afterwards the state has the policy that answers.

    A policy that retrieves before it drafts discards the draft for the gate, without events for its
    tokens.
    """
    streams = state.plan.moments == (Moment.UNCERTAIN_DRAFT,) and not state.plan.routes
    draft, held = None, list[Token]()
    if gate.needs_draft:
        async with aclosing(drafting(state)) as parts:
            async for part in parts:
                if isinstance(part, Sentence):
                    draft = part
                elif streams:
                    yield state.drafted(part)
                elif isinstance(part, Token):
                    held.append(part)
    model = AnswerModel(state, described, draft.tokens if draft else ())
    judged = await gate.judge(state.search_question, model)
    threshold, top_k = state.policy.gate_threshold or 0.0, None
    if judged.policy is not None:
        state.plan.route_to(chosen := judged.policy)
    elif judged.probability < threshold:
        state.plan.skip_retrieval()
        chosen = state.policy.name if state.plan.gates_first_retrieval else NO_RETRIEVAL.name
    else:
        chosen = state.policy.name
        if judged.top_k is not None:
            state.plan.limit_passages(judged.top_k)
            top_k = state.policy.top_k
    yield GateJudged(
        gate=gate.name,
        policy=chosen,
        probability=judged.probability,
        threshold=threshold,
        features=dict(judged.features),
        top_k=top_k,
    )
    if draft is None:
        return
    reflects = Moment.ON_REFLECTION in state.policy.moments
    if reflects or state.plan.retrieves_first or not _DISCARDING.isdisjoint(state.plan.moments):
        await state.writer.stop()
        return
    state.keep_draft(draft)
    for token in held:
        yield state.drafted(token)
