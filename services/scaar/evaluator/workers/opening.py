"""The queue of an evaluator's settings, and the executor that puts shards into it."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from celery import Celery

from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.workers.application import build_application
from scaar.evaluator.workers.executor import QueueExecutor
from scaar.evaluator.workers.queue import ShardQueue


def application_of(settings: EvaluatorSettings, broker: str) -> Celery:
    """The application by which the service of these settings and its workers talk.

    Raises:
        InvalidRequest: the broker's URL is none.
    """
    return build_application(
        broker, queue=settings.queue, shard_s=settings.shard_s, stop_s=settings.stop_grace_s
    )


@asynccontextmanager
async def open_queue_executor(
    settings: EvaluatorSettings, broker: str
) -> AsyncIterator[QueueExecutor]:
    """An executor that puts shards into the broker's queue.

    Raises:
        InvalidRequest: the broker's URL is none.
    """
    queue = ShardQueue(application_of(settings, broker))
    try:
        yield QueueExecutor(queue, clock=time.monotonic)
    finally:
        queue.close()
