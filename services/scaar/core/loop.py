"""The adaptive loop: one answer after another over four ports, each by its policy's steps.

A policy that judges drafts a sentence, and looks up where a word of it is uncertain (SCAAR section
3.4, :mod:`scaar.core.draft_then_judge`); one that always retrieves looks up and then writes
(:mod:`scaar.core.retrieve_then_write`). The concluding sentence, which holds the answer phrase, is
never judged and never looked up for, under any policy.
"""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from scaar.core.answering import Answering, Ports
from scaar.core.budget import Budget
from scaar.core.call_context import name_request
from scaar.core.capacity import AnswerCapacity
from scaar.core.described import Described
from scaar.core.draft_then_judge import draft_then_judge
from scaar.core.errors import CapabilityMissing, InvalidRequest, NotFound, ScaarError
from scaar.core.filters import check_declared
from scaar.core.gates.passing import pass_gate
from scaar.core.gates.proxy import GateProxy
from scaar.core.policies.effective import effective_policy
from scaar.core.policies.needs import capabilities, needs_retriever, needs_scorer, served_by
from scaar.core.prompts import profile_of
from scaar.core.retrieve_then_write import retrieve_then_write
from scaar.core.types import (
    AnswerEnd,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    EffectivePolicy,
    ModelDescription,
    OnFailure,
    PassagesRetrieved,
    Provenance,
    When,
)
from scaar.core.validation import validate

__all__ = ["AdaptiveLoop", "Ports"]

_Described = TypeVar("_Described")


class AdaptiveLoop:
    """Answers questions over four ports; itself an :class:`~scaar.core.ports.Answerer`.

    With ``draft_ahead`` the model writes on while a sentence is judged, in one generation as long
    as its text stands; the events are the same without, where every sentence is a call. ``gate``
    judges questions under the policies that are asked with one. ``capacity`` bounds the answers
    under way, by default with the default :class:`~scaar.core.capacity.CapacityLimits`.
    """

    def __init__(
        self,
        ports: Ports,
        *,
        draft_ahead: bool = True,
        gate: GateProxy | None = None,
        capacity: AnswerCapacity | None = None,
        clock: Callable[[], float] = time.monotonic,
        new_request_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self._ports = ports
        self._draft_ahead = draft_ahead
        self._gate = gate
        self._capacity = capacity or AnswerCapacity()
        self._clock = clock
        self._new_request_id = new_request_id
        self._model = Described(lambda: ports.generator.describe_model(), clock)
        self._scorer = Described(lambda: ports.scorer.describe_model(), clock)

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        """Every decision as it is made; the last event holds the answer and the bill."""
        validate(request)
        request = replace(request, request_id=request.request_id or self._new_request_id())
        name_request(request.request_id)
        gate = self._required_gate(request)
        budget = Budget(request.budget, self._clock)
        async with budget.within("opening the answer"):
            model = await self._model.get()
        placing = self._capacity.place(
            declared=model.max_concurrent_generations, seconds_left=budget.seconds_left
        )
        async with placing as place:
            async with budget.within("opening the answer"):
                provenance = await self._provenance(request, model, gate)
            answering = Answering(
                self._ports, request, provenance, budget, place, draft_ahead=self._draft_ahead
            )
            yield AnswerStarted(provenance)
            async with aclosing(_written(answering, gate)) as events:
                async for event in events:
                    yield event
        yield AnswerFinished(answering.answer())

    async def _provenance(
        self, request: AnswerRequest, model: ModelDescription, gate: GateProxy | None
    ) -> Provenance:
        """What will answer. Refuses, before any work, what the parts cannot serve."""
        on_failure = request.on_failure
        opening = scoring = None
        try:
            async with asyncio.TaskGroup() as parts:
                # Which parts a policy needs hangs on the request alone: all are asked at once.
                if needs_retriever(request.policy):
                    index = self._ports.retriever.describe_index(request.index)
                    opening = parts.create_task(_borne(index, on_failure))
                if needs_scorer(request.policy):
                    scoring = parts.create_task(_borne(self._scorer.get(), on_failure))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        found = opening.result() if opening else None
        if found is not None:
            check_declared(request.filters, found.metadata_fields, index=request.index)
        scorer = scoring.result() if scoring else None
        policy = effective_policy(
            request.policy, model, gate_threshold=gate.threshold if gate else None
        )
        _require_capabilities(policy, model)
        profile = profile_of(request.prompt_profile or model.prompt_profile)
        return Provenance(
            request_id=request.request_id,
            model=model.model,
            model_revision=model.revision,
            engine=model.engine,
            scorer=scorer.model if scorer else "",
            scorer_revision=scorer.revision if scorer else "",
            index=found.name if found else "",
            index_version=found.version if found else "",
            prompt_profile=profile.label,
            policy=policy,
            continuation=model.continuation,
            logprob_kind=model.logprob_kind,
            index_content=found.content if found else "",
            encoder=found.dense.encoder if found and found.dense else "",
            encoder_revision=found.dense.encoder_revision if found and found.dense else "",
            gate_revision=gate.revision if gate else "",
        )

    def _required_gate(self, request: AnswerRequest) -> GateProxy | None:
        """The gate, where the policy is asked with one."""
        asked = request.policy.overrides.gate
        if asked is None:
            return None
        if self._gate is None:
            raise CapabilityMissing(
                f"policy.gate {asked} needs a file of its proxy, and the orchestrator has none: "
                "SCAAR_ORCHESTRATOR_GATE_FILE names it",
                policy=request.policy.name,
                missing="gate_file",
            )
        return self._gate


async def _written(
    answering: Answering, gate: GateProxy | None
) -> AsyncGenerator[AnswerEvent, None]:
    """The events from the first sentence to the last."""
    try:
        if gate is not None:
            async with aclosing(pass_gate(answering, gate)) as judged:
                async for event in judged:
                    yield event
        if answering.when is When.ONCE and answering.can_look_up:
            async with aclosing(answering.look_up()) as steps:
                async for step in steps:
                    yield step
                    if isinstance(step, PassagesRetrieved):
                        answering.passages = step.passages
        while answering.end is None:
            async with aclosing(_next_step(answering)) as events:
                async for event in events:
                    yield event
        if answering.end is not AnswerEnd.ANSWER_PHRASE:
            yield await answering.conclude()
    finally:
        await answering.writer.stop()


def _next_step(answering: Answering) -> AsyncGenerator[AnswerEvent, None]:
    match answering.when:
        case When.EVERY_SENTENCE | When.EVERY_WINDOW:
            return retrieve_then_write(answering)
        case _:
            return draft_then_judge(answering)


def _require_capabilities(policy: EffectivePolicy, model: ModelDescription) -> None:
    missing = capabilities(policy) - model.capabilities
    if missing:
        names, served = ", ".join(sorted(missing)), ", ".join(served_by(model))
        raise CapabilityMissing(
            f"policy {policy.name} needs {names}, which model {model.model} on engine "
            f"{model.engine} does not give; in its place it can serve {served}",
            policy=policy.name,
            missing=names,
        )


async def _borne(describing: Awaitable[_Described], on_failure: OnFailure) -> _Described | None:
    """The description; None from a part that is down, where the draft may stand without it."""
    try:
        return await describing
    except (InvalidRequest, NotFound):
        raise
    except ScaarError:
        if on_failure is OnFailure.FAIL:
            raise
        return None
