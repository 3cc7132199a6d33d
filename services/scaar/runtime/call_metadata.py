"""Propagation of request id and trace context from call to call."""

from collections.abc import Callable
from typing import Any

from scaar.core.calls.context import CallContext, current_call, in_call, trace_id_of
from scaar.core.tenancy import TENANT_KEY
from scaar.runtime.handlers import Behavior, CallInterceptor, Context
from scaar.runtime.wrapped_channel import WrappedChannel

REQUEST_ID_KEY = "x-request-id"
TRACEPARENT_KEY = "traceparent"


class CallContextInterceptor(CallInterceptor):
    """Reads the context of a call from its metadata. The outermost interceptor."""

    def around(self, behavior: Behavior, method: str) -> Behavior:
        async def within(request: Any, context: Context) -> Any:
            with in_call(_context_of(context)):
                return await behavior(request, context)

        return within


def _context_of(context: Context) -> CallContext:
    metadata = {
        key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)
    }
    traceparent = metadata.get(TRACEPARENT_KEY, "")
    return CallContext(
        request_id=metadata.get(REQUEST_ID_KEY, ""),
        traceparent=traceparent if trace_id_of(traceparent) else "",
        tenant=metadata.get(TENANT_KEY, ""),
    )


def propagated_metadata() -> tuple[tuple[str, str], ...]:
    """Return the metadata that the current call propagates to the calls it makes."""
    call = current_call()
    if call is None:
        return ()
    metadata = ((REQUEST_ID_KEY, call.request_id), (TRACEPARENT_KEY, call.traceparent))
    return tuple((key, value) for key, value in metadata if value)


class PropagatingChannel(WrappedChannel):
    """Channel whose calls propagate request id and trace context of the current call."""

    def _multi_callable(self, kind: str, *method: Any, **options: Any) -> Callable[..., Any]:
        return _propagating(getattr(self._channel, kind)(*method, **options))


def _propagating(start: Callable[..., Any]) -> Callable[..., Any]:
    def call(*request: Any, metadata: Any = None, **options: Any) -> Any:
        given = tuple(metadata or ())
        named = {key for key, _ in given}
        more = tuple(each for each in propagated_metadata() if each[0] not in named)
        return start(*request, metadata=(*given, *more) or None, **options)

    return call
