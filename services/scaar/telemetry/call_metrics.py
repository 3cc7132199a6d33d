"""Rate, errors and duration of a server's methods."""

import time
from collections.abc import Callable
from typing import Any

from scaar.runtime.handlers import Behavior, CallInterceptor, Context
from scaar.telemetry.call_codes import OK, code_of
from scaar.telemetry.metric_table import RPC_DURATION, RPC_REQUESTS, RPC_UNDER_WAY
from scaar.telemetry.metrics import Metrics


class CallMetricsInterceptor(CallInterceptor):
    """Counts every call and how it ended; those of health and reflection are left out."""

    def __init__(self, metrics: Metrics, clock: Callable[[], float] = time.monotonic) -> None:
        self._metrics = metrics
        self._clock = clock

    def around(self, behavior: Behavior, method: str) -> Behavior:
        service, _, method = method.strip("/").partition("/")

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
