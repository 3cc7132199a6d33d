"""The Celery application and the queue executor for the settings of an evaluator."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from celery import Celery

from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.workers.application import build_application
from scaar.evaluator.workers.executor import QueueExecutor
from scaar.evaluator.workers.queue import ShardQueue


def application_of(settings: EvaluatorSettings, broker: str) -> Celery:
    """Return the application that connects the service with its workers.

    Raises:
        InvalidRequest: the URL is not one of a supported broker.
    """
    return build_application(
        broker, queue=settings.queue, shard_s=settings.shard_s, stop_s=settings.stop_grace_s
    )


@asynccontextmanager
async def open_queue_executor(
    settings: EvaluatorSettings, broker: str
) -> AsyncIterator[QueueExecutor]:
    """Open an executor that sends shards to the queue of the broker.

    Raises:
        InvalidRequest: the URL is not one of a supported broker.
    """
    queue = ShardQueue(application_of(settings, broker))
    try:
        yield QueueExecutor(queue, clock=time.monotonic)
    finally:
        queue.close()
