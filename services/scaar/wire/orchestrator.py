"""The answerer's port over gRPC."""

import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import grpc

from scaar.core.errors import (
    BackendUnavailable,
    DeadlineExceeded,
    PermissionDenied,
    StreamIncomplete,
    Unauthenticated,
)
from scaar.core.ports import Answerer
from scaar.core.types import Answer, AnswerEvent, AnswerFinished, AnswerRequest, AnswerStarted
from scaar.v1 import orchestrator_pb2 as pb
from scaar.v1 import orchestrator_pb2_grpc as pb_grpc
from scaar.wire.calls import REQUEST_ID_KEY, answered, streamed, timeout_within
from scaar.wire.messages.answer import (
    answer_from_pb,
    answer_request_from_pb,
    answer_request_to_pb,
    answer_to_pb,
)
from scaar.wire.messages.events import answer_event_from_pb, answer_event_to_pb
from scaar.wire.request_limits import ServiceLimits

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["OrchestratorService"].full_name

# Left of the caller's time so that the answer, or the stage at which time ran out, gets through.
_MARGIN_S = 0.2
# What a client waits beyond the budget's time, so that the orchestrator is the one to end.
_GRACE_S = 5.0


class OrchestratorServicer(pb_grpc.OrchestratorServiceServicer):
    """Serves any answerer."""

    service_name = SERVICE_NAME
    limits = ServiceLimits(pb.DESCRIPTOR.services_by_name["OrchestratorService"])

    def __init__(self, answerer: Answerer) -> None:
        self._answerer = answerer

    def add_to(self, server: grpc.aio.Server) -> None:
        """Registers the service."""
        pb_grpc.add_OrchestratorServiceServicer_to_server(self, server)

    async def Answer(
        self, request: pb.AnswerRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.AnswerResponse:
        async with aclosing(self._events(request, context)) as events:
            async for event in events:
                if isinstance(event, AnswerFinished):
                    return pb.AnswerResponse(answer=answer_to_pb(event.answer))
        raise StreamIncomplete("the answer ended before its end")

    async def StreamAnswer(
        self, request: pb.StreamAnswerRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncGenerator[pb.StreamAnswerResponse, None]:
        async with aclosing(self._events(request, context)) as events:
            async for event in events:
                yield pb.StreamAnswerResponse(event=answer_event_to_pb(event))

    async def _events(
        self,
        message: pb.AnswerRequest | pb.StreamAnswerRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> AsyncGenerator[AnswerEvent, None]:
        request = answer_request_from_pb(message)
        if not request.request_id:
            request = replace(request, request_id=_request_id_in(context))
        async with aclosing(self._answerer.stream_answer(_within(request, context))) as events:
            try:
                async for event in events:
                    if isinstance(event, AnswerStarted):
                        await context.send_initial_metadata(_metadata(event.provenance.request_id))
                    yield event
            except (Unauthenticated, PermissionDenied) as error:
                # It is the orchestrator that is refused, by what it depends on, not its caller.
                text = f"a service refuses the orchestrator: {error.message}"
                raise BackendUnavailable(text) from error


def _within(request: AnswerRequest, context: grpc.aio.ServicerContext[Any, Any]) -> AnswerRequest:
    """The request, its time that of the call where that is sooner."""
    remaining: float | None = context.time_remaining()
    if remaining is None or remaining - _MARGIN_S >= request.budget.timeout_s:
        return request
    if remaining <= _MARGIN_S:
        raise DeadlineExceeded("no time is left for the answer", stage="opening the answer")
    if not request.budget.timeout_s > 0:
        return request
    return replace(request, budget=replace(request.budget, timeout_s=remaining - _MARGIN_S))


def _request_id_in(context: grpc.aio.ServicerContext[Any, Any]) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == REQUEST_ID_KEY and isinstance(value, str):
            return value
    return ""


def _metadata(request_id: str) -> tuple[tuple[str, str], ...]:
    """The id as metadata, where it can be."""
    fits = request_id.isascii() and request_id.isprintable() and request_id.strip() == request_id
    return ((REQUEST_ID_KEY, request_id),) if request_id and fits else ()


class RemoteAnswerer:
    """An answerer behind a channel.

    Each call is bounded by ``timeout_s``, and by little more than the time that the request's
    budget gives; ``metadata`` goes with each.
    """

    def __init__(
        self,
        channel: grpc.aio.Channel,
        target: str,
        *,
        timeout_s: float = 3600.0,
        metadata: tuple[tuple[str, str | bytes], ...] = (),
    ) -> None:
        self._stub = pb_grpc.OrchestratorServiceStub(channel)
        self._target = target
        self._timeout_s = timeout_s
        self._metadata = metadata

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        """The events of the answer; those that this version does not know are passed over.

        Raises:
            StreamIncomplete: the stream ended before the answer.
        """
        call = self._stub.StreamAnswer(
            answer_request_to_pb(request, pb.StreamAnswerRequest),
            timeout=self._timeout(request),
            metadata=(*self._metadata, *_metadata(request.request_id)),
        )
        responses = streamed(call, lambda found: answer_event_from_pb(found.event), self._target)
        async with aclosing(responses) as events:
            async for event in events:
                if event is not None:
                    yield event
                if isinstance(event, AnswerFinished):
                    return
        raise StreamIncomplete(f"{self._target} ended the answer before its end")

    async def answer(self, request: AnswerRequest) -> Answer:
        """The answer alone, in one call."""
        call = self._stub.Answer(
            answer_request_to_pb(request, pb.AnswerRequest),
            timeout=self._timeout(request),
            metadata=(*self._metadata, *_metadata(request.request_id)),
        )
        return await answered(call, lambda found: answer_from_pb(found.answer), self._target)

    def _timeout(self, request: AnswerRequest) -> float:
        asked, cap = request.budget.timeout_s, self._timeout_s
        if math.isfinite(asked) and asked > 0:
            cap = min(cap, asked + _GRACE_S)
        return timeout_within(cap, self._target)
