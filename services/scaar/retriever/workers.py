"""Bounded pool of threads for work on files, outside the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from scaar.core.errors import BackendUnavailable

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Workers:
    """Runs functions in at most ``threads`` threads. Further calls wait in FIFO order."""

    def __init__(self, threads: int, name: str) -> None:
        self._executor = ThreadPoolExecutor(threads, name)

    async def run(
        self,
        function: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run the function in a thread and return its result.

        Raises:
            BackendUnavailable: the function raised OSError, for example because the disk is full
                or a permission is missing.
        """
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._executor, lambda: function(*args, **kwargs))
        except OSError as error:
            text = f"the indexes cannot be used: {error.strerror or 'a file cannot be used'}"
            raise BackendUnavailable(text, detail=str(error.filename or error)) from error

    def close(self) -> None:
        """Wait for running functions, and cancel those that have not started."""
        self._executor.shutdown(cancel_futures=True)
