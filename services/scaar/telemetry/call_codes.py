"""With which status a call ended."""

import asyncio
from typing import Any

import grpc

from scaar.runtime.handlers import Context

OK = grpc.StatusCode.OK.name
_NAMES = {code.value[0]: code.name for code in grpc.StatusCode}


def code_of(error: BaseException, context: Context) -> str:
    """The name of the status with which a call ended that did not end well."""
    if isinstance(error, asyncio.CancelledError):
        # gRPC cancels the call of a client whose time is over, which the client is told as such.
        left: float | None = context.time_remaining()
        late = left is not None and left <= 0
        return (grpc.StatusCode.DEADLINE_EXCEEDED if late else grpc.StatusCode.CANCELLED).name
    code: Any = context.code()
    if isinstance(code, grpc.StatusCode):
        return code.name
    return _NAMES.get(code) or grpc.StatusCode.UNKNOWN.name
