"""Threads for work on files, off the event loop and bounded."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from scaar.core.errors import BackendUnavailable

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Workers:
    """Runs functions in at most ``threads`` threads; further ones wait their turn, in order."""

    def __init__(self, threads: int, name: str) -> None:
        self._executor = ThreadPoolExecutor(threads, name)

    async def run(
        self,
        function: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """The function's result.

        Raises:
            BackendUnavailable: the operating system refused the function something: a full disk,
                a folder without permission.
        """
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._executor, lambda: function(*args, **kwargs))
        except OSError as error:
            text = f"the indexes cannot be used: {error.strerror or 'a file cannot be used'}"
            raise BackendUnavailable(text, detail=str(error.filename or error)) from error

    def close(self) -> None:
        """Waits for what is running; what has not begun is given up."""
        self._executor.shutdown(cancel_futures=True)
