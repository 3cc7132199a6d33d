"""The slots of a llama.cpp server, each leased to one answer.

A slot keeps the keys and values of what it read and wrote, and a later prompt is read from the
first different token on. Keys and values of written tokens differ in rounding from those of the
same tokens read in a prompt, so what a slot kept of another answer would change the
log-probabilities of this one. Therefore the first call of an answer reads its whole prompt, the
answer keeps its slot, and its later calls reuse only what the answer itself has read and written.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

from scaar.core.errors import DeadlineExceeded
from scaar.core.loop.budget import remaining_time_s

IDLE_S = 10.0
"""Time without a call after which another answer takes the slot of an answer, in seconds."""
OVERLAP_S = 2.0
"""Time for which a call waits for the end of an earlier one of its answer, in seconds."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The slot of a call. ``number`` is None for any slot of the server.

    ``reuse`` is whether the slot holds only what the answer of the call has read and written.
    """

    number: int | None = None
    reuse: bool = False


ANY_SLOT = Slot()
"""The slot of a call to a server whose slots are not leased."""


@dataclass(slots=True)
class _Lease:
    number: int
    last_call: float
    running: bool = False
    reusable: bool = False
    released: bool = False


class AnswerSlots:
    """Leases ``count`` slots of a server to answers, in the order of their first calls.

    Of several slots, the last one is never leased: it serves the calls of no answer, which do not
    wait for an answer to end. A single slot serves them between the calls of its answer, whose next
    call then reads its whole prompt again.
    """

    def __init__(self, count: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._spare = count - 1 if count > 1 else None
        self._free = deque(range(count - 1 if count > 1 else count))
        self._leases: dict[str, _Lease] = {}
        self._waiting = deque[str]()
        self._calls_of_none = 0
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def slot(self, answer_id: str) -> AsyncIterator[Slot]:
        """Hold the slot of an answer's call for the block; of a call of no answer if it is empty.

        A call waits for the end of an earlier one of its answer: over gRPC, the cancellation of a
        call can arrive after the next call. If that takes long, as with concurrent calls of an
        answer, the call is treated as one of no answer.

        Raises:
            DeadlineExceeded: the deadline of the call passed before a slot was free.
        """
        lease = await self._lease(answer_id) if answer_id else None
        if lease is not None and lease.running:
            await self._ended(lease)
            lease = await self._lease(answer_id)
        if lease is None or lease.running:
            with self._call_of_none():
                yield Slot(self._spare)
            return
        reuse = lease.reusable and not self._shares_slot
        lease.running, lease.reusable = True, False
        try:
            yield Slot(lease.number, reuse)
            lease.reusable = True
        except BaseException as error:
            # After a failure the content of the slot is unknown. A generation that is closed
            # early leaves what was read and written up to then.
            lease.reusable = not isinstance(error, Exception)
            raise
        finally:
            lease.running, lease.last_call = False, self._clock()
            if lease.released:
                self._end(answer_id, lease)
            self._changed.set()

    def release(self, answer_id: str) -> None:
        """Free the slot of an answer, after its running call. An unknown answer has none."""
        lease = self._leases.get(answer_id)
        if lease is None:
            return
        lease.released = True
        if not lease.running:
            self._end(answer_id, lease)

    @property
    def _shares_slot(self) -> bool:
        """Whether a call of no answer runs on the slot of an answer."""
        return self._spare is None and self._calls_of_none > 0

    @contextmanager
    def _call_of_none(self) -> Iterator[None]:
        self._calls_of_none += 1
        try:
            yield
        finally:
            if self._shares_slot:
                for lease in self._leases.values():
                    lease.reusable = False
            self._calls_of_none -= 1

    async def _ended(self, lease: _Lease) -> None:
        """Wait until the running call of a lease ends, for a limited time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(OVERLAP_S):
                while lease.running:
                    self._changed.clear()
                    await self._changed.wait()

    async def _lease(self, answer_id: str) -> _Lease:
        """Return the lease of an answer, once a slot is free."""
        if (lease := self._leases.get(answer_id)) is not None:
            return lease
        self._waiting.append(answer_id)
        try:
            while (lease := self._take(answer_id)) is None:
                await self._wait()
            return lease
        finally:
            with suppress(ValueError):
                self._waiting.remove(answer_id)
            self._changed.set()

    def _take(self, answer_id: str) -> _Lease | None:
        """Lease a free slot to the first answer that waits; None for another, or without one."""
        if (lease := self._leases.get(answer_id)) is not None:
            return lease
        if self._waiting[0] != answer_id:
            return None
        if not self._free:
            self._end_idle()
        if not self._free:
            return None
        lease = self._leases[answer_id] = _Lease(self._free.popleft(), self._clock())
        return lease

    async def _wait(self) -> None:
        """Wait for a released slot, at most until the next lease is idle for too long."""
        idle = [IDLE_S - (self._clock() - lease.last_call) for lease in self._resting()]
        left = remaining_time_s()
        if left is not None and left <= 0:
            raise DeadlineExceeded("the deadline passed while the model served other answers")
        limits = [max(0.01, limit) for limit in (*idle, left) if limit is not None]
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(min(limits, default=None)):
                await self._changed.wait()

    def _resting(self) -> list[_Lease]:
        return [lease for lease in self._leases.values() if not lease.running]

    def _end_idle(self) -> None:
        """End the leases of answers that made no call for too long."""
        now = self._clock()
        for answer_id, lease in tuple(self._leases.items()):
            if not lease.running and now - lease.last_call >= IDLE_S:
                self._end(answer_id, lease)

    def _end(self, answer_id: str, lease: _Lease) -> None:
        del self._leases[answer_id]
        self._free.append(lease.number)
        self._changed.set()
