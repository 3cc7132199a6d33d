"""Which request, and which trace, the work of a call is for: carried along, and never acted on."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

# W3C Trace Context: version, trace id, parent id, flags.
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")


@dataclass(slots=True)
class CallContext:
    """A call under way. What is not known is empty; the request may get its id in the call."""

    request_id: str = ""
    traceparent: str = ""
    """Its place in a trace, as W3C Trace Context writes it."""

    @property
    def trace_id(self) -> str:
        """The trace's id; empty where there is none."""
        return trace_id_of(self.traceparent)


_CALL: ContextVar[CallContext | None] = ContextVar("call", default=None)


@contextmanager
def in_call(call: CallContext) -> Iterator[None]:
    """Makes it the call of what is awaited in the block. Nothing may be yielded in the block."""
    token = _CALL.set(call)
    try:
        yield
    finally:
        _CALL.reset(token)


def current_call() -> CallContext | None:
    """The call that work is done for; None outside of any."""
    return _CALL.get()


def name_request(request_id: str) -> None:
    """Says which request the call is for, if there is a call."""
    call = _CALL.get()
    if call is not None:
        call.request_id = request_id


def trace_id_of(traceparent: str) -> str:
    """The id of the trace that a traceparent names; empty where it names none."""
    found = _TRACEPARENT.fullmatch(traceparent)
    return found[1] if found and found[1].strip("0") and found[2].strip("0") else ""
