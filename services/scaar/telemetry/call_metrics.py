"""Rate, errors and duration of a server's methods."""

import time
from collections.abc import Callable
from typing import Any

import grpc

from scaar.runtime.handlers import GRPC_OWN, Behavior, Context, Continuation, Handler, wrapped
from scaar.telemetry.call_codes import OK, code_of
from scaar.telemetry.metric_table import RPC_DURATION, RPC_REQUESTS, RPC_UNDER_WAY
from scaar.telemetry.metrics import Metrics


class CallMetricsInterceptor(grpc.aio.ServerInterceptor):
    """Counts every call and how it ended; those of health and reflection are left out."""

    def __init__(self, metrics: Metrics, clock: Callable[[], float] = time.monotonic) -> None:
        self._metrics = metrics
        self._clock = clock

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "Handler | None":
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if method.startswith(GRPC_OWN):
            return handler
        return wrapped(handler, lambda behavior: self._counted(behavior, method))

    def _counted(self, behavior: Behavior, path: str) -> Behavior:
        service, _, method = path.strip("/").partition("/")

        async def counted(request: Any, context: Context) -> Any:
            began, code = self._clock(), OK
            with self._metrics.under_way(RPC_UNDER_WAY, service, method):
                try:
                    return await behavior(request, context)
                except BaseException as error:
                    code = code_of(error, context)
                    raise
                finally:
                    seconds = self._clock() - began
                    self._metrics.observe(RPC_DURATION, seconds, service, method)
                    self._metrics.add(RPC_REQUESTS, service, method, code)

        return counted
