"""Items of a study, evaluated concurrently; records are stored in batches as they come.

The stores of records are ports.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from scaar.evaluator.execution.cancellation import cancel_all
from scaar.evaluator.planning.work import Key
from scaar.evaluator.records import Prediction

R_contra = TypeVar("R_contra", contravariant=True)


class RecordStore(Protocol[R_contra]):
    """Stores the records of one study, one for each item."""

    @property
    def gather_s(self) -> float:
        """Seconds that a record may wait to be stored together with others."""
        ...

    async def add(self, records: Sequence[R_contra], /) -> None:
        """Store records durably.

        Raises:
            ScaarError: they cannot be stored; earlier records are stored.
        """
        ...


class PredictionStore(RecordStore[Prediction], Protocol):
    """Stores the predictions of one evaluation, one for each setting and question.

    A prediction replaces a failed one of the same key.
    """

    async def known(self) -> Mapping[Key, bool]:
        """Return the stored predictions by key, with whether they failed."""
        ...


MAX_PENDING = 64
"""Maximum number of records that wait to be stored; further ones block their producer."""
Item = TypeVar("Item")
Record = TypeVar("Record")


class QuestionLimiter(asyncio.Semaphore):
    """FIFO semaphore that bounds the number of concurrent questions across shards."""

    def __init__(self, concurrency: int) -> None:
        super().__init__(concurrency)
        self.concurrency = concurrency


async def evaluate_items(
    items: Iterable[Item],
    evaluate: Callable[[Item], Awaitable[Record]],
    store: RecordStore[Record],
    *,
    limiter: QuestionLimiter,
    on_stored: Callable[[Record], object] = lambda _: None,
    on_last_started: Callable[[], None] = lambda: None,
) -> None:
    """Evaluate all items and store their records.

    ``on_stored`` is called for each record once it is stored, ``on_last_started`` when the last
    item has started. After an error or a cancellation no item is running and stored records are
    kept.

    Raises:
        ScaarError: the store cannot store a record, or an item cannot be evaluated.
    """
    waiting, writer = deque(items), _Writer(store, on_stored)

    async def evaluate_some() -> None:
        while waiting:
            async with limiter:
                # Another task may have taken the last item meanwhile.
                if not waiting:
                    break
                each = waiting.popleft()
                if not waiting:
                    on_last_started()
                record = await evaluate(each)
            await writer.put(record)

    async def evaluate_all() -> None:
        tasks = [asyncio.create_task(evaluate_some()) for _ in range(limiter.concurrency)]
        try:
            await asyncio.gather(*tasks)
        finally:
            await cancel_all(tasks)

    evaluating, writing = asyncio.create_task(evaluate_all()), asyncio.create_task(writer.run())
    evaluating.add_done_callback(lambda _: writer.end())
    try:
        await asyncio.wait({evaluating, writing}, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        try:
            await cancel_all((evaluating,))
        finally:
            await asyncio.gather(writing, return_exceptions=True)
    for each in (writing, evaluating):
        each.result()


class _Writer(Generic[Record]):
    """Stores records in batches; a batch has those that arrive within ``gather_s``."""

    def __init__(self, store: RecordStore[Record], on_stored: Callable[[Record], object]) -> None:
        self._store = store
        self._on_stored = on_stored
        self._pending: asyncio.Queue[tuple[Record] | None] = asyncio.Queue()
        self._room = asyncio.Semaphore(MAX_PENDING)

    async def put(self, record: Record) -> None:
        """Enqueue a record; wait while the queue is full."""
        await self._room.acquire()
        self._pending.put_nowait((record,))

    def end(self) -> None:
        """Declare that no further record will be put."""
        self._pending.put_nowait(None)

    async def run(self) -> None:
        """Store records until :meth:`end` was called and all are stored."""
        while batch := await self._batch():
            await self._store.add(batch)
            for each in batch:
                self._room.release()
                self._on_stored(each)

    async def _batch(self) -> list[Record]:
        """The records that arrive within ``gather_s`` of the first; empty at the end."""
        found: list[Record] = []
        until: float | None = None
        while len(found) < MAX_PENDING:
            try:
                async with asyncio.timeout_at(until):
                    each = await self._pending.get()
            except TimeoutError:
                break
            if each is None:
                # The end stays visible to the next call.
                self.end()
                break
            found.extend(each)
            if until is None:
                until = asyncio.get_running_loop().time() + self._store.gather_s
        return found
