"""A worker: a process that takes messages from the broker, with child processes for shards."""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from celery import Celery, signals

from scaar.core.errors import ScaarError
from scaar.evaluator.store.database.shards import ShardKey
from scaar.evaluator.workers.queue import TASK
from scaar.evaluator.workers.shard_process import Open, execute_shard

_LOGGER = logging.getLogger(__name__)


def run_worker(
    application: Celery,
    open_: Open,
    *,
    processes: int,
    shard_s: float,
    on_ready: Callable[[], None] = lambda: None,
    on_process_start: Callable[[], None] = lambda: None,
) -> int:
    """Execute shards in ``processes`` child processes until a signal; return the exit status.

    After SIGTERM or SIGINT running shards are released within seconds: the child processes see the
    end of a pipe. If this process is lost, they end too. ``on_ready`` is called when the worker
    takes shards, and ``on_process_start`` in each child process. The log is not reconfigured.
    """
    stopping, running = os.pipe()

    def execute(evaluation: int, number: int) -> None:
        key = ShardKey(evaluation, number)
        try:
            asyncio.run(execute_shard(key, open_, stopping=stopping, shard_s=shard_s))
        except ScaarError as error:
            # The shard is free, or will be: the service sends it again.
            _LOGGER.warning("shard %d of evaluation %d: %s", number, evaluation, error)

    def end_pipe(**_: Any) -> None:
        with suppress(OSError):
            os.close(running)

    def report_ready(**_: Any) -> None:
        on_ready()

    def start(**_: Any) -> None:
        end_pipe()
        on_process_start()

    def leave_log(**_: Any) -> None:
        # The log lines of a shard say more than Celery's of its message.
        logging.getLogger("celery").setLevel(logging.WARNING)

    application.task(name=TASK)(execute)
    signals.setup_logging.connect(leave_log, weak=False)
    signals.worker_process_init.connect(start, weak=False)
    signals.worker_shutting_down.connect(end_pipe, weak=False)
    signals.worker_ready.connect(report_ready, weak=False)
    worker = application.Worker(
        pool="prefork",
        concurrency=processes,
        quiet=True,
        without_gossip=True,
        without_mingle=True,
    )
    worker.start()
    return int(worker.exitcode or 0)
