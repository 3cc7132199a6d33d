"""The broker queue in which shards wait for a worker."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from celery import Celery
from kombu.exceptions import KombuError

from scaar.core.errors import BackendUnavailable
from scaar.evaluator.store.database.shards import ShardKey
from scaar.evaluator.workers.application import TASK


class ShardQueue:
    """The queue of shards; not safe for concurrent calls."""

    def __init__(self, application: Celery) -> None:
        self._application = application
        self._open: Any = None

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        connection, self._open = self._open, None
        if connection is not None:
            connection.release()

    async def waiting(self) -> int:
        """Return the number of messages that no worker has taken.

        Raises:
            BackendUnavailable: the broker does not respond.
        """
        return await asyncio.to_thread(self._waiting)

    async def put(self, key: ShardKey) -> None:
        """Send a shard to the end of the queue.

        Raises:
            BackendUnavailable: the broker does not accept the message.
        """
        await asyncio.to_thread(self._put, key)

    def _waiting(self) -> int:
        with self._connection() as connection:
            queue = self._application.amqp.queues[self._application.conf.task_default_queue]
            return int(queue(connection.default_channel).queue_declare().message_count)

    def _put(self, key: ShardKey) -> None:
        with self._connection() as connection:
            self._application.send_task(TASK, (key.evaluation, key.number), connection=connection)

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        """The connection, opened if necessary and discarded after an error."""
        connection = self._open = self._open or self._application.connection_for_write()
        failures = (*connection.connection_errors, *connection.channel_errors, KombuError, OSError)
        try:
            yield connection
        except failures as error:
            self._open = None
            with suppress(*failures):
                connection.close()
            detail = f"{connection.as_uri()}: {error}"
            raise BackendUnavailable("the broker is not available", detail=detail) from error
