"""The request and the trace of a call, which downstream calls carry on."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

# W3C Trace Context: version, trace id, parent id, flags.
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")


@dataclass(slots=True)
class CallContext:
    """A running call. Unknown fields are empty; the id of a request can be set during the call."""

    request_id: str = ""
    traceparent: str = ""
    """Position in a trace, in the format of W3C Trace Context."""
    tenant: str = ""
    """The tenant that the caller names, which is not verified."""

    @property
    def trace_id(self) -> str:
        """Id of the trace; empty without a trace."""
        return trace_id_of(self.traceparent)


_CALL: ContextVar[CallContext | None] = ContextVar("call", default=None)


@contextmanager
def in_call(call: CallContext) -> Iterator[None]:
    """Make it the current call of the block, which must not yield."""
    token = _CALL.set(call)
    try:
        yield
    finally:
        _CALL.reset(token)


def current_call() -> CallContext | None:
    """Return the current call; None outside of a call."""
    return _CALL.get()


def name_request(request_id: str) -> None:
    """Set the request id of the current call, if there is one."""
    call = _CALL.get()
    if call is not None:
        call.request_id = request_id


def trace_id_of(traceparent: str) -> str:
    """Return the trace id of a traceparent; empty if the traceparent is invalid."""
    found = _TRACEPARENT.fullmatch(traceparent)
    return found[1] if found and found[1].strip("0") and found[2].strip("0") else ""
