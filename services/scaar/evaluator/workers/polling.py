"""A worker without a broker: its processes find free shards in the database."""

import asyncio
import logging
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from scaar.core.errors import ScaarError
from scaar.evaluator.execution.cancellation import cancel_all
from scaar.evaluator.service.shard_sequence import ShardSequence
from scaar.evaluator.store.database.evaluations import running_evaluations
from scaar.evaluator.store.database.shards import ShardKey, free_shards
from scaar.evaluator.workers.shard_process import Open

_LOGGER = logging.getLogger(__name__)

POLL_S = 1.0
"""Interval in seconds at which an idle process looks for shards."""
_BUSY_S = 0.05
"""Minimum interval, since processes compete for the last shards."""
_CANDIDATES = 16
"""Number of free shards to draw from, since other processes compete for them."""
_RESTART_S = 1.0
"""Seconds before a process that ended is replaced."""


@dataclass(slots=True)
class ShardPoller:
    """Executes free shards of all running evaluations, which take turns.

    A shard that lost its holder ``max_faults`` times is left to the service, which fails its
    evaluation. Each turn ends after ``shard_s`` at the latest.
    """

    sequence: ShardSequence
    max_faults: int
    shard_s: float
    poll_s: float = POLL_S
    _last: int = 0

    async def run(self) -> None:
        """Execute shards until cancelled, whatever errors the database raises."""
        while True:
            started, found = time.monotonic(), False
            try:
                if key := await self._free_shard():
                    found, self._last = True, key.evaluation
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self.shard_s):
                            await self.sequence.execute(key)
            except ScaarError as error:
                _LOGGER.warning("shards wait: %s", error)
                found = False
            pause_s = _BUSY_S if found else self.poll_s
            await asyncio.sleep(max(0.0, pause_s - (time.monotonic() - started)))

    async def _free_shard(self) -> ShardKey | None:
        """One of the free shards of the next evaluation that has some; None if none has."""
        execution = self.sequence.execution
        running = await running_evaluations(execution.database)
        later = [each for each in running if each > self._last]
        for number in (*later, *(each for each in running if each <= self._last)):
            free = await free_shards(
                execution.database,
                number,
                now=execution.database.clock,
                lease_s=execution.lease_s,
                limit=_CANDIDATES,
            )
            if keys := [each.key for each in free if each.faults < self.max_faults]:
                return random.choice(keys)
        return None


def run_polling_worker(
    open_: Open,
    *,
    processes: int,
    max_faults: int,
    shard_s: float,
    stop_s: float,
    on_ready: Callable[[], None] = lambda: None,
    on_process_start: Callable[[], None] = lambda: None,
) -> int:
    """Execute shards in ``processes`` child processes until a signal; return the exit status.

    After SIGTERM or SIGINT running shards are released within ``stop_s``: the child processes see
    the end of a pipe. If this process is lost, they end too; a child process that is lost is
    replaced. ``on_ready`` is called when the processes are started, and ``on_process_start`` in
    each of them.
    """
    stopping, running = os.pipe()
    ended, end = os.pipe()

    def serve() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for each in (running, ended, end):
            os.close(each)
        on_process_start()
        with suppress(ScaarError):
            asyncio.run(_poll(open_, stopping, max_faults=max_faults, shard_s=shard_s))

    def stop(*_: Any) -> None:
        with suppress(OSError):
            os.write(end, b"x")

    # A spawned process would not share the metrics and the pipe.
    context = multiprocessing.get_context("fork")
    before = {each: signal.signal(each, stop) for each in (signal.SIGTERM, signal.SIGINT)}
    children = [_started(context, serve) for _ in range(processes)]
    on_ready()
    try:
        while ended not in wait([ended, *(each.sentinel for each in children)]):
            _replace(context, children, serve, ended)
    finally:
        os.close(running)
        _join(children, stop_s)
        for number, handler in before.items():
            signal.signal(number, handler)
        for each in (stopping, ended, end):
            os.close(each)
    return 0


async def _poll(open_: Open, stopping: int, *, max_faults: int, shard_s: float) -> None:
    """Execute shards until ``stopping`` is readable."""
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_reader(stopping, stopped.set)
    async with open_() as sequence:
        polling = asyncio.create_task(ShardPoller(sequence, max_faults, shard_s).run())
        try:
            await stopped.wait()
        finally:
            await cancel_all((polling,))


def _started(context: Any, serve: Callable[[], None]) -> BaseProcess:
    child: BaseProcess = context.Process(target=serve)
    child.start()
    return child


def _replace(
    context: Any, children: list[BaseProcess], serve: Callable[[], None], ended: int
) -> None:
    """Replace the processes that ended, after a while, unless the worker is stopped meanwhile."""
    lost = [each for each in children if not each.is_alive()]
    for each in lost:
        _LOGGER.warning("a process of the worker ended with status %s", each.exitcode)
        each.join()
    if wait([ended], timeout=_RESTART_S):
        return
    for each in lost:
        children[children.index(each)] = _started(context, serve)


def _join(children: Sequence[BaseProcess], stop_s: float) -> None:
    until = time.monotonic() + stop_s
    for each in children:
        each.join(max(0.0, until - time.monotonic()))
        if each.is_alive():
            each.kill()
            each.join()
