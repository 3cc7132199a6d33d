"""What stands before every call of a server: its errors told, its number and time bounded."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import grpc

from scaar.core.budget import deadline_in
from scaar.core.errors import DeadlineExceeded, ScaarError
from scaar.runtime.admission import Admission
from scaar.runtime.handlers import (
    Behavior,
    CallInterceptor,
    Context,
    Continuation,
    Handler,
    wrapped,
)

_LOGGER = logging.getLogger(__name__)

# gRPC cancels a call when its client's time is over; this is when a call is stopped without it.
_LATE_S = 0.25

StatusOf = Callable[[ScaarError], tuple[grpc.StatusCode, str, tuple[tuple[str, bytes], ...]]]


class ErrorInterceptor(grpc.aio.ServerInterceptor):
    """Ends calls with the status of their error; the outermost interceptor.

    The ``detail`` of a condition is logged, and not sent.

    An exception that is no condition of scaar's becomes INTERNAL: its text goes to the log and
    not to the caller.
    """

    def __init__(self, status_of: StatusOf) -> None:
        self._status_of = status_of

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "Handler | None":
        method = handler_call_details.method
        return wrapped(
            await continuation(handler_call_details),
            lambda behavior: self._guarded(behavior, method),
        )

    def _guarded(self, behavior: Behavior, method: str) -> Behavior:
        async def guarded(request: Any, context: Context) -> Any:
            try:
                return await behavior(request, context)
            except ScaarError as error:
                if error.detail:
                    _LOGGER.warning("%s ends with: %s", method, error)
                code, message, trailing = self._status_of(error)
            except grpc.aio.AbortError:
                raise
            except grpc.aio.InternalError as error:
                # A message to a client that has gone. gRPC would log it as a failure of ours.
                raise asyncio.CancelledError from error
            except Exception:
                _LOGGER.exception("%s failed, request id %s", method, _request_id(context))
                code, message, trailing = self._status_of(ScaarError("internal error"))
            try:
                await context.abort(code, message, trailing)
            except grpc.aio.InternalError as error:
                # A status to a client that has gone, by its own deadline for instance.
                raise asyncio.CancelledError from error

        return guarded


class AdmissionInterceptor(CallInterceptor):
    """Lets a call in while there is a place, before its request is decoded.

    A stream holds its place as long as it lives. gRPC's own services need none: a service that is
    full is still asked for its health.
    """

    def __init__(self, admission: Admission) -> None:
        self._admission = admission

    def around(self, behavior: Behavior, method: str) -> Behavior:
        async def admitted(request: Any, context: Context) -> Any:
            with self._admission.place():
                return await behavior(request, context)

        return admitted


class DeadlineInterceptor(CallInterceptor):
    """Bounds the time of every call, and of every call that is made for it.

    That time is the client's, and no more than ``max_call_s``. One of gRPC's own services may take
    as long as it likes.
    """

    def __init__(self, max_call_s: float) -> None:
        self._max_call_s = max_call_s

    def around(self, behavior: Behavior, method: str) -> Behavior:
        async def bounded(request: Any, context: Context) -> Any:
            remaining: float | None = context.time_remaining()
            given = self._max_call_s if remaining is None else remaining
            try:
                with deadline_in(min(given, self._max_call_s)):
                    async with asyncio.timeout(min(given + _LATE_S, self._max_call_s)) as limit:
                        return await behavior(request, context)
            except TimeoutError as error:
                if not limit.expired():
                    raise
                most = min(given, self._max_call_s)
                text = f"the call took longer than the {most:g} s that it may"
                raise DeadlineExceeded(text) from error

        return bounded


def _request_id(context: Context) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == "x-request-id":
            return str(value)
    return "not given"
