"""Shards are sent to the queue once, and again if their messages were lost."""

from scaar.core.errors import BackendUnavailable
from scaar.evaluator.store.database.shards import ShardKey
from scaar.evaluator.workers.executor import LOST_AFTER_S, POLL_S, QueueExecutor

ONE, TWO = ShardKey(1, 0), ShardKey(1, 1)


class Queue:
    """A queue in memory, which may be away."""

    def __init__(self) -> None:
        self.held: list[ShardKey] = []
        self.put_so_far: list[ShardKey] = []
        self.away = False
        self.tried = 0

    async def waiting(self) -> int:
        self._answer()
        return len(self.held)

    async def put(self, key: ShardKey) -> None:
        self._answer()
        self.held.append(key)
        self.put_so_far.append(key)

    def _answer(self) -> None:
        self.tried += 1
        if self.away:
            raise BackendUnavailable("the broker is away")


class Reported:
    """An executor that is offered free shards, and its clock."""

    def __init__(self) -> None:
        self.queue, self.now = Queue(), 0.0
        self._executor = QueueExecutor(self.queue, clock=lambda: self.now)

    async def of(self, *free: ShardKey, seconds: float = 60.0) -> list[ShardKey]:
        """The shards sent, if these are offered twice a second for a number of seconds."""
        until = self.now + seconds
        while self.now < until:
            for each in free:
                await self._executor.submit(each)
            self.now += 0.5
        return self.queue.put_so_far


async def test_a_shard_that_waits_in_the_queue_is_put_once() -> None:
    assert await Reported().of(ONE, TWO) == [ONE, TWO]


async def test_a_shard_whose_message_was_lost_is_put_again() -> None:
    message = Reported()
    await message.of(ONE, TWO)
    message.queue.held.clear()
    assert await message.of(TWO, seconds=2 * POLL_S) == [ONE, TWO, TWO]


async def test_a_shard_that_was_taken_a_moment_ago_is_not_taken_for_lost() -> None:
    message = Reported()
    await message.of(ONE, seconds=0.5)
    message.queue.held.clear()
    assert await message.of(ONE, seconds=LOST_AFTER_S - 1.0) == [ONE]


async def test_an_unavailable_broker_is_polled_and_shards_wait() -> None:
    message = Reported()
    message.queue.away = True
    assert await message.of(*(ShardKey(1, at) for at in range(50)), seconds=10.0) == []
    assert message.queue.tried <= 10.0 / POLL_S
    message.queue.away = False
    assert await message.of(ONE, TWO, seconds=2.0) == [ONE, TWO]


async def test_a_broker_that_goes_after_it_was_looked_at_keeps_nothing_for_good() -> None:
    message = Reported()
    await message.of(ONE, seconds=0.5)
    message.queue.away = True
    await message.of(TWO, seconds=3.0)
    message.queue.away = False
    assert await message.of(TWO, seconds=3.0) == [ONE, TWO]
