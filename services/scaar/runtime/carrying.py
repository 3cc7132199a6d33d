"""What goes with every call from service to service: the request's id and its place in a trace."""

from collections.abc import Callable
from typing import Any

from scaar.core.call_context import CallContext, current_call, in_call, trace_id_of
from scaar.runtime.handlers import Behavior, CallInterceptor, Context
from scaar.runtime.wrapped_channel import WrappedChannel

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


class CarryingChannel(WrappedChannel):
    """A channel whose calls carry on what the call brought that they are made for."""

    def _begins(self, kind: str, *method: Any, **options: Any) -> Callable[..., Any]:
        return _carrying(getattr(self._channel, kind)(*method, **options))


def _carrying(begin: Callable[..., Any]) -> Callable[..., Any]:
    def call(*request: Any, metadata: Any = None, **options: Any) -> Any:
        given = tuple(metadata or ())
        named = {key for key, _ in given}
        more = tuple(each for each in carried() if each[0] not in named)
        return begin(*request, metadata=(*given, *more) or None, **options)

    return call
