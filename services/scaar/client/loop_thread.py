"""An event loop in its own thread, for callers without an event loop."""

import asyncio
import concurrent.futures
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, Generic, TypeVar

_Value = TypeVar("_Value")


class _Call(Generic[_Value]):
    """Work for a caller in another thread. The methods are called on the loop."""

    def __init__(self, work: Coroutine[Any, Any, _Value]) -> None:
        self.ended = concurrent.futures.Future[_Value]()
        self._work = work
        self._task: asyncio.Task[_Value] | None = None

    def begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._work)
        self._task.add_done_callback(self._end)

    def cancel(self) -> None:
        if self._task is None:
            self._work.close()
        else:
            self._task.cancel()

    def _end(self, task: asyncio.Task[_Value]) -> None:
        if task.cancelled():
            self.ended.cancel()
        elif error := task.exception():
            self.ended.set_exception(error)
        else:
            self.ended.set_result(task.result())


class _Steps(Generic[_Value]):
    """Iterator that ends at None. Unlike ``iter``, it calls ``step`` after its end too.

    A stream that was read to its end then raises once it is closed.
    """

    def __init__(self, step: Callable[[], _Value | None]) -> None:
        self._step = step

    def __iter__(self) -> Iterator[_Value]:
        return self

    def __next__(self) -> _Value:
        if (value := self._step()) is None:
            raise StopIteration
        return value


class LoopThread:
    """An event loop in its own thread, for callers in other threads."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="scaar-client", daemon=True
        )
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> "LoopThread":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        # Interrupted work is cancelled, and closes what it has opened.
        if not self._closed:
            self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        """Return the result of the coroutine. Interrupting the caller cancels it.

        Raises:
            RuntimeError: the client is closed.
        """
        call = _Call(work)
        try:
            with self._lock:
                if self._closed:
                    work.close()
                    raise RuntimeError("the client is closed")
                self._loop.call_soon_threadsafe(call.begin)
            return call.ended.result()
        except concurrent.futures.CancelledError:
            raise RuntimeError("the client is closed") from None
        finally:
            # Whether the work was begun is known on the loop only: Ctrl-C can end any line above.
            if not call.ended.done() and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(call.cancel)

    @contextmanager
    def stream(
        self, opening: AbstractAsyncContextManager[AsyncIterator[_Value]]
    ) -> Iterator[Iterator[_Value]]:
        """Iterate an asynchronous stream from another thread. Leaving the block closes the stream.

        Raises:
            RuntimeError: the client is closed.
        """
        # An interrupted step ends before the block is left.
        stepping = asyncio.Lock()

        async def enter() -> AsyncIterator[_Value]:
            return await opening.__aenter__()

        async def step() -> _Value | None:
            async with stepping:
                return await anext(values, None)

        async def leave() -> None:
            async with stepping:
                await opening.__aexit__(None, None, None)

        values = self.run(enter())
        try:
            yield _Steps(lambda: self.run(step()))
        finally:
            self.run(leave())

    def close(self, last: Coroutine[Any, Any, None] | None = None) -> None:
        """Cancel the running tasks, run ``last``, and reject further work."""

        async def closing() -> None:
            running = asyncio.all_tasks() - {asyncio.current_task()}
            for task in running:
                # A second cancellation would end the cleanup that the first one started.
                if not task.cancelling():
                    task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            if last is not None:
                await last
            # Streams that another thread has not left, and can no longer leave.
            await asyncio.get_running_loop().shutdown_asyncgens()

        with self._lock:
            self._closed = True
        asyncio.run_coroutine_threadsafe(closing(), self._loop).result()


@contextmanager
def opened_in_thread(
    opening: AbstractAsyncContextManager[_Value],
) -> Iterator[tuple[_Value, LoopThread]]:
    """Open a resource on the event loop of a new thread, and close both with the block."""

    async def enter() -> _Value:
        return await opening.__aenter__()

    async def leave() -> None:
        await opening.__aexit__(None, None, None)

    with LoopThread() as thread:
        opened = thread.run(enter())
        try:
            yield opened, thread
        finally:
            thread.close(leave())
