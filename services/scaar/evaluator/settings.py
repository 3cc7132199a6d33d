"""The evaluator's settings, from ``SCAAR_EVALUATOR_*``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from scaar.core.controls import Control
from scaar.core.evaluations import MAX_QUESTIONS
from scaar.runtime.settings import EmbeddableTarget, ServiceSettings, Target, settings_of


class EvaluatorSettings(ServiceSettings):
    """Settings of the evaluator: its database, its orchestrator, its executor and its limits."""

    model_config = settings_of("evaluator")

    orchestrator_target: EmbeddableTarget = "embedded"
    """Orchestrator that answers the questions: ``embedded``, or the gRPC target of a running one,
    ``dns:///host:port``. With ``embedded``, the index of the lab's world is available."""

    scorer_targets: Mapping[Control, Target] | None = None
    """Orchestrators whose scorer is a control, by the name of the control, such as
    ``{"permuted": "dns:///host:port"}``. If ``orchestrator_target`` is ``embedded``, every control
    is available without a target."""

    database: SecretStr | None = None
    """URL of the database: ``sqlite:///FILE``, or ``postgresql://USER:PASSWORD@HOST/NAME``, whose
    tables ``scaar db upgrade`` creates. Default: an SQLite file in the data folder, which is
    created if it does not exist."""

    database_file: Path | None = None
    """File that contains the URL of the database and nothing else; an alternative to
    ``database``."""

    datasets: Mapping[str, Path] | None = None
    """Files of the data sets that requests may name, by the name of the data set, such as
    ``{"hotpotqa": "/data/hotpot_dev_distractor_v1.json"}``. The data set ``lab`` needs no file."""

    concurrency: int = Field(default=4, ge=1, le=64)
    """Maximum number of questions that one executor answers concurrently. The next shard starts as
    soon as the last question of the current one has started."""

    executor: Literal["in_process", "poll", "celery"] = "in_process"
    """Executor of shards: ``in_process``; ``poll``, with ``scaar eval worker`` processes that find
    shards in the database; or ``celery``, with worker processes that take shards from a broker."""

    broker: SecretStr | None = None
    """URL of the workers' broker: ``redis://HOST:PORT/NUMBER``, ``rediss://`` for Redis with TLS,
    or ``amqp://USER:PASSWORD@HOST:PORT/NAME`` for RabbitMQ. Required if ``executor`` is
    ``celery``."""

    broker_file: Path | None = None
    """File that contains the URL of the broker and nothing else; an alternative to ``broker``."""

    queue: str = Field(default="scaar.evaluations", pattern=r"^[A-Za-z0-9_.-]{1,100}$")
    """Name of the broker queue in which shards wait for a worker. Evaluators with different
    databases need different queues."""

    worker_processes: int = Field(default=2, ge=1, le=64)
    """Number of processes of a worker; each answers up to ``concurrency`` questions
    concurrently."""

    shard_s: float = Field(default=240.0, ge=1.0, le=1500.0)
    """Maximum time in seconds that an executor works on the shards of one evaluation before it
    serves others. After half of this time it starts no further shard; at the end, a worker returns
    an unfinished shard to the queue. RabbitMQ takes a message back after 30 minutes."""

    patience_s: float = Field(default=300.0, ge=0)
    """Maximum time in seconds for which a question is retried while the orchestrator is overloaded
    or unavailable; after that the question fails. After an overload error no question is sent
    until the delay that the orchestrator returned has passed."""

    concurrent_shards: int = Field(default=1, ge=1, le=64)
    """Maximum number of concurrent shards with the ``in_process`` executor; each answers up to
    ``concurrency`` questions concurrently."""

    shard_predictions: int = Field(default=200, ge=1, le=10_000)
    """Approximate number of predictions of a shard. If the process that holds a shard is lost,
    stored predictions are kept and only the others are made again."""

    lease_s: float = Field(default=30.0, ge=5.0)
    """Lease of a shard in seconds: if its holder does not renew the lease for this long, another
    process can take the shard."""

    attempts: int = Field(default=3, ge=1, le=100)
    """Maximum number of attempts for a question at a setting. After the last failed attempt the
    prediction counts as failed and scores 0."""

    attempt_pause_s: float = Field(default=1.0, gt=0)
    """Delay in seconds before a failed question is tried again. The delay doubles with every
    attempt, up to 30 s."""

    shard_faults: int = Field(default=20, ge=1)
    """Maximum number of times that the holder of a shard can be lost before the evaluation
    fails."""

    max_questions: int = Field(default=MAX_QUESTIONS, ge=1, le=MAX_QUESTIONS)
    """Maximum number of questions of an evaluation."""

    max_upload_mib: int = Field(default=64, ge=1, le=1024)
    """Maximum total size of the questions uploaded for an evaluation, in MiB."""

    max_unfinished: int = Field(default=8, ge=1)
    """Maximum number of queued and running evaluations of a tenant. A further one is rejected with
    RESOURCE_EXHAUSTED."""

    operator_tenants: tuple[str, ...] = ()
    """Tenants of the ``identities_file`` whose callers can see and cancel the evaluations of all
    tenants, such as ``["operations"]``. Every other caller can access only those of its own
    tenant."""

    retention_days: float = Field(default=90.0, gt=0)
    """Number of days that an evaluation is kept after it has ended; then it is deleted."""
