"""An event loop in a thread of its own."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_Value = TypeVar("_Value")


class LoopThread:
    """An event loop in a thread of its own, for callers in others."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="scaar-client", daemon=True
        )
        self._lock = threading.Lock()
        self._ended = False

    def __enter__(self) -> "LoopThread":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        """What the work comes to; a caller that is interrupted cancels it."""
        with self._lock:
            if self._ended:
                work.close()
                raise RuntimeError("the client is closed")
            running = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return running.result()
        except concurrent.futures.CancelledError:
            raise RuntimeError("the client is closed") from None
        finally:
            running.cancel()

    def end(self, last: Coroutine[Any, Any, None]) -> None:
        """Cancels what is under way, does the last thing, and takes no more."""

        async def ending() -> None:
            under_way = asyncio.all_tasks() - {asyncio.current_task()}
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
            await last
            # The streams that a thread has not left, and now cannot.
            await asyncio.get_running_loop().shutdown_asyncgens()

        with self._lock:
            self._ended = True
        asyncio.run_coroutine_threadsafe(ending(), self._loop).result()
