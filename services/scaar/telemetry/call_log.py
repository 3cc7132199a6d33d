"""A line of the log for every call."""

import logging
import time
from collections.abc import Callable
from typing import Any

import grpc

from scaar.runtime.handlers import GRPC_OWN, Behavior, Context, Continuation, Handler, wrapped
from scaar.telemetry.call_codes import OK, code_of

_LOGGER = logging.getLogger("scaar.calls")


class CallLogInterceptor(grpc.aio.ServerInterceptor):
    """Says of every call how it ended and how long it took; health and reflection are left out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "Handler | None":
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if method.startswith(GRPC_OWN):
            return handler
        return wrapped(handler, lambda behavior: self._told(behavior, method.strip("/")))

    def _told(self, behavior: Behavior, method: str) -> Behavior:
        async def told(request: Any, context: Context) -> Any:
            began, code = self._clock(), OK
            try:
                return await behavior(request, context)
            except BaseException as error:
                code = code_of(error, context)
                raise
            finally:
                _LOGGER.info("%s %s %.1f ms", method, code, (self._clock() - began) * 1000)

        return told
