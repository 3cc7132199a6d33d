"""A line of the log for every call."""

import logging
import time
from collections.abc import Callable
from typing import Any

from scaar.runtime.handlers import Behavior, CallInterceptor, Context
from scaar.telemetry.call_codes import OK, code_of

_LOGGER = logging.getLogger("scaar.calls")


class CallLogInterceptor(CallInterceptor):
    """Says of every call how it ended and how long it took; health and reflection are left out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock

    def around(self, behavior: Behavior, method: str) -> Behavior:
        name = method.strip("/")

        async def told(request: Any, context: Context) -> Any:
            began, code = self._clock(), OK
            try:
                return await behavior(request, context)
            except BaseException as error:
                code = code_of(error, context)
                raise
            finally:
                _LOGGER.info("%s %s %.1f ms", name, code, (self._clock() - began) * 1000)

        return told
