"""The broker queue in which shards wait for a worker, and the Celery application for it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from celery import Celery
from kombu.exceptions import KombuError

from scaar.core.errors import BackendUnavailable, InvalidRequest
from scaar.evaluator.store.database.shards import ShardKey

TASK = "scaar.evaluations.execute_shard"
QUEUE = "scaar.evaluations"
SCHEMES = ("redis", "rediss", "amqp", "amqps")
_NO_ANSWER_S = 5.0
_NOT_AGAIN = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
"""Retry policy of connections of the service; workers retry their connection forever."""


def build_application(
    broker: str, *, queue: str = QUEUE, shard_s: float = 240.0, stop_s: float = 5.0
) -> Celery:
    """Return the application for the URL of a broker; no connection is opened.

    A message is acknowledged when its shard has ended, after at most ``shard_s``; if the worker is
    lost before, the broker delivers it to another one. ``stop_s`` is the time that shards have to
    stop after a second signal.

    Raises:
        InvalidRequest: the URL is not one of a supported broker.
    """
    scheme, separator, _ = broker.partition("://")
    if not separator or scheme not in SCHEMES:
        # The URL is not repeated: it may contain a password.
        text = "must be redis://HOST:PORT/NUMBER or amqp://USER:PASSWORD@HOST:PORT/NAME"
        raise InvalidRequest.of("broker", text)
    application = Celery("scaar.evaluations", broker=broker, set_as_current=False)
    application.conf.update(
        task_default_queue=queue,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        # The service offers a shard again soon, so it does not wait for an unavailable broker.
        task_publish_retry=False,
        worker_prefetch_multiplier=1,
        worker_send_task_events=False,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_soft_shutdown_timeout=stop_s,
        worker_proc_alive_timeout=60.0,
        # The lease of a shard is in the database and independent of this connection.
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # A full disk of the broker is a temporary channel error.
        broker_channel_error_retry=True,
        broker_transport_options=dict(_NOT_AGAIN),
        broker_connection_timeout=_NO_ANSWER_S,
    )
    if scheme.startswith("redis"):
        application.conf.broker_transport_options = {
            **_NOT_AGAIN,
            "visibility_timeout": 2 * shard_s,
            "socket_connect_timeout": _NO_ANSWER_S,
            "socket_timeout": 2 * _NO_ANSWER_S,
            "socket_keepalive": True,
        }
    return application


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
