"""The adaptive loop: answers over four ports, by the steps of a policy.

A policy that judges drafts a sentence, and retrieves if a word of the draft is uncertain (SCAAR
section 3.4, :mod:`scaar.core.loop.draft_then_judge`). A policy that always retrieves does so before
it writes (:mod:`scaar.core.loop.retrieve_then_write`). A policy that retrieves after the answer
writes the whole answer again (:mod:`scaar.core.loop.rounds`), if it has no trigger or its trigger
finds the answer uncertain, and one that retrieves when the model asks reads the requests from its
text (:mod:`scaar.core.loop.search_on_request`). A policy of a
model with reflection tokens lets them decide (:mod:`scaar.core.loop.reflection`). The concluding
sentence, which has the answer phrase, ends the answer. A policy that always retrieves does not
retrieve for it, and a policy that judges may leave it unjudged (``judge_conclusion``).
"""

import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from scaar.core.calls.capacity import AnswerCapacity
from scaar.core.calls.context import name_request
from scaar.core.gates import AbstainingGate, QuestionGate
from scaar.core.loop.answer_state import AnswerState, Ports
from scaar.core.loop.draft_then_judge import draft_then_judge
from scaar.core.loop.first_search import search_first
from scaar.core.loop.gate import pass_gate
from scaar.core.loop.given_draft import judge_given_draft, require_given_texts, require_judging
from scaar.core.loop.loop_files import LoopFiles
from scaar.core.loop.opening import AnswerOpener
from scaar.core.loop.prompted_writing import conclude
from scaar.core.loop.reflection import reflect
from scaar.core.loop.retrieve_then_write import retrieve_then_write
from scaar.core.loop.rewriting import is_follow_up, rewrite_question
from scaar.core.loop.rounds import write_rounds
from scaar.core.loop.search_on_request import search_on_request
from scaar.core.loop.shadow import ShadowSampling
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.ports import CorpusCounts
from scaar.core.sentence_filter.learned_filter import LearnedFilter
from scaar.core.types import (
    Abstention,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    DraftJudgement,
    JudgeDraftRequest,
    ModelDescription,
    Moment,
    RewriteOutcome,
)
from scaar.core.validation import validate, validate_draft

__all__ = ["AdaptiveLoop", "Ports"]


class AdaptiveLoop:
    """An :class:`~scaar.core.ports.Answerer` over four ports, and a judge of given drafts.

    With ``draft_ahead``, the model keeps writing while a sentence is judged, in one generation for
    as long as its text is accepted. Otherwise every sentence is a call; the events are the same.
    With ``allow_scorer_mismatch``, answers with a scorer that does not fit model or index are
    marked instead of rejected.
    ``gate`` is the gate of a file; requests can also name gates that need no file.
    ``sentence_filter`` is the filter of policies that filter sentences, ``corpus_counts`` are the
    counts of policies that decide by the occurrences of entities in a corpus. ``policies`` are
    the tuned policies that requests can name. ``default_index`` is the index of requests that name
    none. ``shadow`` runs the trigger of a second policy.
    ``capacity`` limits the concurrent answers; the default has the default
    :class:`~scaar.core.calls.capacity.CapacityLimits`.
    """

    def __init__(
        self,
        ports: Ports,
        *,
        draft_ahead: bool = True,
        allow_scorer_mismatch: bool = False,
        gate: QuestionGate | None = None,
        sentence_filter: LearnedFilter | None = None,
        corpus_counts: CorpusCounts | None = None,
        policies: TunedPolicies | None = None,
        default_index: str = "",
        shadow: ShadowSampling | None = None,
        capacity: AnswerCapacity | None = None,
        clock: Callable[[], float] = time.monotonic,
        new_request_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self.files = LoopFiles(gate, sentence_filter, corpus_counts)
        """The files that some policies need."""
        self.policies = TunedPolicies() if policies is None else policies
        """The tuned policies, and the default policy."""
        self.default_index = default_index
        """The index of requests that name none; empty if there is none."""
        self._shadow = shadow
        self._new_request_id = new_request_id
        self._opener = AnswerOpener(
            ports,
            self.files,
            policies=self.policies,
            draft_ahead=draft_ahead,
            allow_scorer_mismatch=allow_scorer_mismatch,
            capacity=capacity,
            clock=clock,
        )

    def resolve(self, request: AnswerRequest) -> AnswerRequest:
        """Return the request with its index, and by a published policy."""
        policy = self.policies.resolve(request.policy)
        return replace(request, policy=policy, index=request.index or self.default_index)

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        """Yield every decision as it is made; the last event has the answer and its usage."""
        request = self.resolve(request)
        validate(request, tuned=self.policies)
        request = self._named(request)
        gate = self.files.gate_of(request.policy)
        async with self._opener.open(request, gate, shadow=self._shadow) as (state, model):
            yield AnswerStarted(state.provenance)
            if request.provenance_only:
                return
            if is_follow_up(request):
                yield await rewrite_question(state)
            async with aclosing(_sentences(state, gate, model)) as events:
                async for event in events:
                    yield event
        answer = state.answer()
        if gate is not None and answer.usage.retrievals and answer.abstained is None:
            answer = replace(answer, abstained=_abstention(gate, state))
        yield AnswerFinished(answer)

    async def judge_draft(self, request: JudgeDraftRequest) -> DraftJudgement:
        """Return the judgement of a given draft, without a gate and without a shadow."""
        policy = self.policies.resolve(request.policy)
        request = replace(request, policy=policy, index=request.index or self.default_index)
        validate_draft(request, tuned=self.policies)
        require_judging(request.policy)
        answer, rewritten = self._named(request.for_answer()), ""
        async with self._opener.open(answer) as (state, model):
            require_given_texts(model)
            if is_follow_up(answer):
                found = await rewrite_question(state)
                if found.outcome is RewriteOutcome.REWRITTEN:
                    rewritten = found.question
            return await judge_given_draft(state, request, rewritten=rewritten)

    def _named(self, request: AnswerRequest) -> AnswerRequest:
        """Return the request with its id, or a new one, which the current call has too."""
        request = replace(request, request_id=request.request_id or self._new_request_id())
        name_request(request.request_id)
        return request


async def _sentences(
    state: AnswerState, gate: QuestionGate | None, model: ModelDescription
) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events from the gate to the last sentence."""
    try:
        if gate is not None:
            async with aclosing(pass_gate(state, gate, model)) as judged:
                async for event in judged:
                    yield event
        if Moment.BEFORE_ANSWER in state.plan.moments and state.can_retrieve:
            async with aclosing(search_first(state)) as steps:
                async for step in steps:
                    yield step
        async with aclosing(write_rounds(state, _written)) as events:
            async for event in events:
                yield event
    finally:
        await state.writer.stop()


async def _written(state: AnswerState) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of the sentences of one answer."""
    if Moment.ON_REQUEST in state.plan.moments:
        async with aclosing(search_on_request(state)) as events:
            async for event in events:
                yield event
        return
    if Moment.ON_REFLECTION in state.policy.moments:
        async with aclosing(reflect(state)) as events:
            async for event in events:
                yield event
        return
    while state.end is None:
        write_next = retrieve_then_write if state.plan.retrieves_first else draft_then_judge
        async with aclosing(write_next(state)) as events:
            async for event in events:
                yield event
    if state.must_conclude:
        yield await conclude(state)


def _abstention(gate: QuestionGate, state: AnswerState) -> Abstention | None:
    """Return why the answer should not be given, if the gate judges answers."""
    if isinstance(gate, AbstainingGate):
        return gate.abstention(state.so_far.token_logprobs)
    return None
