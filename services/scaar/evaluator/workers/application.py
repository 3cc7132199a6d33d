"""The application of Celery by which the service and its workers talk."""

from celery import Celery

from scaar.core.errors import InvalidRequest

TASK = "scaar.evaluations.ask_shard"
QUEUE = "scaar.evaluations"
SCHEMES = ("redis", "rediss", "amqp", "amqps")
_NO_ANSWER_S = 5.0
_NOT_AGAIN = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
"""Of a connection that is opened as it is used; a worker's opens for as long as it takes."""


def build_application(
    broker: str, *, queue: str = QUEUE, shard_s: float = 240.0, stop_s: float = 5.0
) -> Celery:
    """The application over a broker's URL; nothing is opened.

    A message is acknowledged when what it had asked has ended, which is after ``shard_s`` at the
    latest, and is another worker's where that is lost before. ``stop_s`` is how long shards may go
    on where a worker is told to stop twice.

    Raises:
        InvalidRequest: it is no such URL.
    """
    scheme, separator, _ = broker.partition("://")
    if not separator or scheme not in SCHEMES:
        # Not repeated: it may hold a password.
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
        # Who puts shards looks again soon, and does not wait for a broker that is away.
        task_publish_retry=False,
        worker_prefetch_multiplier=1,
        worker_send_task_events=False,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_soft_shutdown_timeout=stop_s,
        worker_proc_alive_timeout=60.0,
        # Whose a shard is says the database, whatever becomes of the connection.
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # A full disk of the broker is told on the channel, and passes too.
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
