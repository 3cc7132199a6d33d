"""Interceptors that log and count the calls of a server."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import grpc

from scaar.runtime.handlers import Behavior, CallInterceptor, Context
from scaar.telemetry.metric_table import RPC_DURATION, RPC_IN_PROGRESS, RPC_REQUESTS

if TYPE_CHECKING:
    from scaar.telemetry.metrics import Metrics

OK = grpc.StatusCode.OK.name
_NAMES = {code.value[0]: code.name for code in grpc.StatusCode}
_LOGGER = logging.getLogger("scaar.calls")


def code_of(error: BaseException, context: Context) -> str:
    """Return the name of the gRPC status of a call that failed with ``error``."""
    if isinstance(error, asyncio.CancelledError):
        # gRPC cancels a call whose deadline has passed; its client sees DEADLINE_EXCEEDED.
        remaining: float | None = context.time_remaining()
        late = remaining is not None and remaining <= 0
        return (grpc.StatusCode.DEADLINE_EXCEEDED if late else grpc.StatusCode.CANCELLED).name
    code: Any = context.code()
    if isinstance(code, grpc.StatusCode):
        return code.name
    return _NAMES.get(code) or grpc.StatusCode.UNKNOWN.name


class CallLogInterceptor(CallInterceptor):
    """Logs status and duration of every call, except those of health and reflection."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock

    def around(self, behavior: Behavior, method: str) -> Behavior:
        name = method.strip("/")

        async def logged(request: Any, context: Context) -> Any:
            started, code = self._clock(), OK
            try:
                return await behavior(request, context)
            except BaseException as error:
                code = code_of(error, context)
                raise
            finally:
                _LOGGER.info("%s %s %.1f ms", name, code, (self._clock() - started) * 1000)

        return logged


class CallMetricsInterceptor(CallInterceptor):
    """Counts rate, errors and duration of every call, except those of health and reflection."""

    def __init__(self, metrics: "Metrics", clock: Callable[[], float] = time.monotonic) -> None:
        self._metrics = metrics
        self._clock = clock

    def around(self, behavior: Behavior, method: str) -> Behavior:
        service, _, method = method.strip("/").partition("/")

        async def counted(request: Any, context: Context) -> Any:
            started, code = self._clock(), OK
            with self._metrics.in_progress(RPC_IN_PROGRESS, service, method):
                try:
                    return await behavior(request, context)
                except BaseException as error:
                    code = code_of(error, context)
                    raise
                finally:
                    seconds = self._clock() - started
                    self._metrics.observe(RPC_DURATION, seconds, service, method)
                    self._metrics.add(RPC_REQUESTS, service, method, code)

        return counted
