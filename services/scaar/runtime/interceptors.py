"""Interceptors for errors, concurrency and deadlines of calls."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import grpc

from scaar.core.errors import DeadlineExceeded, ScaarError
from scaar.core.loop.budget import deadline_in
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

# Delay after the client's deadline, at which gRPC cancels the call, until it is stopped here.
_LATE_S = 0.25

StatusOf = Callable[[ScaarError], tuple[grpc.StatusCode, str, tuple[tuple[str, bytes], ...]]]


class ErrorInterceptor(grpc.aio.ServerInterceptor):
    """Ends failed calls with the status of their error.

    The ``detail`` of a :class:`~scaar.core.errors.ScaarError` is logged and not sent. Any other
    exception becomes INTERNAL; its message is logged and not sent.
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
                # The client has disconnected. gRPC would log this as an error of the server.
                raise asyncio.CancelledError from error
            except Exception:
                _LOGGER.exception("%s failed, request id %s", method, _request_id(context))
                code, message, trailing = self._status_of(ScaarError("internal error"))
            try:
                await context.abort(code, message, trailing)
            except grpc.aio.InternalError as error:
                # The client has disconnected, for example because of its own deadline.
                raise asyncio.CancelledError from error

        return guarded


class AdmissionInterceptor(CallInterceptor):
    """Admits a call while the limit permits, before its request is decoded.

    A stream counts until it ends. Health and reflection are not limited.
    """

    def __init__(self, admission: Admission) -> None:
        self._admission = admission

    def around(self, behavior: Behavior, method: str) -> Behavior:
        async def admitted(request: Any, context: Context) -> Any:
            with self._admission.slot():
                return await behavior(request, context)

        return admitted


class DeadlineInterceptor(CallInterceptor):
    """Limits the duration of a call and of the calls that it makes.

    The limit is the client's deadline, at most ``max_call_s``. Health and reflection are not
    limited.
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
                limit_s = min(given, self._max_call_s)
                text = f"the call exceeded its time limit of {limit_s:g} s"
                raise DeadlineExceeded(text) from error

        return bounded


def _request_id(context: Context) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == "x-request-id":
            return str(value)
    return "not given"
