"""The Celery application that connects the service with its workers."""

from celery import Celery

from scaar.core.errors import InvalidRequest

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
