"""What goes with every call from service to service: the request's id and its place in a trace."""

from collections.abc import Callable
from typing import Any

import grpc

from scaar.core.call_context import CallContext, current_call, in_call, trace_id_of
from scaar.runtime.handlers import Behavior, CallInterceptor, Context

REQUEST_ID_KEY = "x-request-id"
TRACEPARENT_KEY = "traceparent"


class CallContextInterceptor(CallInterceptor):
    """Reads what a call brings; the outermost interceptor."""

    def around(self, behavior: Behavior, method: str) -> Behavior:
        async def within(request: Any, context: Context) -> Any:
            with in_call(_brought(context)):
                return await behavior(request, context)

        return within


def _brought(context: Context) -> CallContext:
    brought = {
        key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)
    }
    traceparent = brought.get(TRACEPARENT_KEY, "")
    return CallContext(
        request_id=brought.get(REQUEST_ID_KEY, ""),
        traceparent=traceparent if trace_id_of(traceparent) else "",
    )


def carried() -> tuple[tuple[str, str], ...]:
    """The metadata that a call made now carries on."""
    call = current_call()
    if call is None:
        return ()
    told = ((REQUEST_ID_KEY, call.request_id), (TRACEPARENT_KEY, call.traceparent))
    return tuple((key, value) for key, value in told if value)


class CarryingChannel(grpc.aio.Channel):
    """A channel whose calls carry on what the call brought that they are made for.

    No interceptor: those of grpc.aio put a task of their own around every call.
    """

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel

    async def __aenter__(self) -> "CarryingChannel":
        await self._channel.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._channel.__aexit__(*error)

    async def close(self, grace: float | None = None) -> None:
        await self._channel.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return self._channel.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        await self._channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        await self._channel.channel_ready()

    def unary_unary(self, *method: Any, **options: Any) -> Any:
        return _carrying(self._channel.unary_unary(*method, **options))

    def unary_stream(self, *method: Any, **options: Any) -> Any:
        return _carrying(self._channel.unary_stream(*method, **options))

    def stream_unary(self, *method: Any, **options: Any) -> Any:
        return _carrying(self._channel.stream_unary(*method, **options))

    def stream_stream(self, *method: Any, **options: Any) -> Any:
        return _carrying(self._channel.stream_stream(*method, **options))


def _carrying(begin: Callable[..., Any]) -> Callable[..., Any]:
    def call(*request: Any, metadata: Any = None, **options: Any) -> Any:
        given = tuple(metadata or ())
        named = {key for key, _ in given}
        more = tuple(each for each in carried() if each[0] not in named)
        return begin(*request, metadata=(*given, *more) or None, **options)

    return call
