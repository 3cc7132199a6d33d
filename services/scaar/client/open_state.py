"""Whether a client is open, for its calls."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class OpenState:
    """Whether a client is open."""

    def __init__(self) -> None:
        self.closed = False

    @contextmanager
    def required(self) -> Iterator[None]:
        """Make a call within the block.

        Raises:
            RuntimeError: the client is closed, or was closed during the call.
        """
        self._check()
        try:
            yield
        except (Exception, asyncio.CancelledError):
            task = asyncio.current_task()
            if not (task and task.cancelling()):
                self._check()
            raise

    def _check(self) -> None:
        if self.closed:
            raise RuntimeError("the client is closed")
