"""A worker: a process that takes messages from the broker, and those below it that ask."""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from celery import Celery, signals

from scaar.core.errors import ScaarError
from scaar.evaluator.store.database.shards import ShardKey
from scaar.evaluator.workers.application import TASK
from scaar.evaluator.workers.asking import Open, ask_shard

_LOGGER = logging.getLogger(__name__)


def run_worker(
    application: Celery,
    opened: Open,
    *,
    processes: int,
    shard_s: float,
    ready: Callable[[], None] = lambda: None,
    begun: Callable[[], None] = lambda: None,
) -> int:
    """Has so many processes ask shards until it is told to stop; the status to end with.

    Told by SIGTERM or SIGINT, shards under way are given back within seconds: the processes learn
    of it by the end of a pipe. Where this one is lost, they end with it. ``ready`` is called when
    it takes shards, and ``begun`` in each of the processes below it. The log stays as it is.
    """
    stopping, going_on = os.pipe()

    def ask(evaluation: int, number: int) -> None:
        key = ShardKey(evaluation, number)
        try:
            asyncio.run(ask_shard(key, opened, stopping=stopping, shard_s=shard_s))
        except ScaarError as error:
            # The shard is free, or will be: the service puts it again.
            _LOGGER.warning("shard %d of evaluation %d: %s", number, evaluation, error)

    def end_pipe(**_: Any) -> None:
        with suppress(OSError):
            os.close(going_on)

    def tell(**_: Any) -> None:
        ready()

    def begin(**_: Any) -> None:
        end_pipe()
        begun()

    def leave_log(**_: Any) -> None:
        # Of a shard its own lines tell more than Celery's of its message.
        logging.getLogger("celery").setLevel(logging.WARNING)

    application.task(name=TASK)(ask)
    signals.setup_logging.connect(leave_log, weak=False)
    signals.worker_process_init.connect(begin, weak=False)
    signals.worker_shutting_down.connect(end_pipe, weak=False)
    signals.worker_ready.connect(tell, weak=False)
    worker = application.Worker(
        pool="prefork",
        concurrency=processes,
        quiet=True,
        without_gossip=True,
        without_mingle=True,
    )
    worker.start()
    return int(worker.exitcode or 0)
