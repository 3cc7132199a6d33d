"""The evaluator's settings, from ``SCAAR_EVALUATOR_*``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from scaar.core.evaluations import MAX_QUESTIONS
from scaar.runtime.settings import ServiceSettings, settings_of


class EvaluatorSettings(ServiceSettings):
    """Where evaluations are kept, what answers in them, and how much there may be of them."""

    model_config = settings_of("evaluator")

    orchestrator_target: str = "embedded"
    """The orchestrator that answers: ``embedded``, or the gRPC target of a running one,
    ``dns:///host:port``. Embedded, the index of the lab's own world is at hand."""

    database: SecretStr | None = None
    """The URL of the database: ``sqlite:///FILE``, or ``postgresql://USER:PASSWORD@HOST/NAME``,
    whose tables ``scaar db upgrade`` makes. Unset, a file of SQLite in the data folder, which is
    made when it is not there."""

    database_file: Path | None = None
    """A file that holds the URL alone, instead of it."""

    datasets: Mapping[str, Path] | None = None
    """The files of the data sets that evaluations may name, by the data set's name, such as
    ``{"hotpotqa": "/data/hotpot_dev_distractor_v1.json"}``. The data set ``lab`` needs none."""

    concurrency: int = Field(default=4, ge=1, le=64)
    """Questions asked at a time: one shard is begun when the last question of another has been."""

    executor: Literal["in_process", "celery"] = "in_process"
    """Who asks: this process, or workers, ``scaar evals worker``, that take shards from a
    broker."""

    broker: SecretStr | None = None
    """The URL of the workers' broker: ``redis://HOST:PORT/NUMBER``, ``rediss://`` with TLS, or
    RabbitMQ's ``amqp://USER:PASSWORD@HOST:PORT/NAME``. Needed where the executor is ``celery``."""

    broker_file: Path | None = None
    """A file that holds the broker's URL alone, instead of it."""

    queue: str = Field(default="scaar.evaluations", pattern=r"^[A-Za-z0-9_.-]{1,100}$")
    """The queue in which shards wait for a worker; evaluators with databases of their own have
    queues of their own."""

    worker_processes: int = Field(default=2, ge=1, le=64)
    """Processes of a worker, each of which asks ``concurrency`` questions at a time."""

    shard_s: float = Field(default=240.0, ge=1.0, le=1500.0)
    """How long shards of one evaluation are asked before others', in seconds: after half of it none
    is begun any more, and what a worker has left of one at its end waits again. RabbitMQ takes back
    what takes half an hour."""

    patience_s: float = Field(default=300.0, ge=0)
    """How long a question is asked again of an orchestrator that sheds load or does not answer
    before that is taken for a failure, in seconds. After it shed load, nothing is asked for as long
    as it said."""

    shards_at_once: int = Field(default=1, ge=1, le=64)
    """Shards begun beside one another where this process asks, each of ``concurrency`` questions at
    a time."""

    shard_predictions: int = Field(default=200, ge=1, le=10_000)
    """About how many predictions a shard is of; what is asked again when its holder is lost is less
    than that, since predictions are kept as they come."""

    lease_s: float = Field(default=30.0, ge=5.0)
    """Seconds without a word from whoever holds a shard after which another may take it."""

    attempts: int = Field(default=3, ge=1, le=100)
    """How often a question is asked under a setting before its failure counts, and scores 0."""

    attempt_pause_s: float = Field(default=1.0, gt=0)
    """What passes before a question that failed is asked again, in seconds; each time twice as
    long, and no more than 30 s."""

    shard_faults: int = Field(default=20, ge=1)
    """How often the holder of a shard may be lost before its evaluation fails."""

    max_questions: int = Field(default=MAX_QUESTIONS, ge=1, le=MAX_QUESTIONS)
    """The most questions of an evaluation."""

    max_upload_mib: int = Field(default=64, ge=1, le=1024)
    """The most that the questions sent for an evaluation may come to, in MiB."""

    max_unfinished: int = Field(default=8, ge=1)
    """The most evaluations that a tenant may have queued and running; one more is refused as
    overload."""

    operator_tenants: tuple[str, ...] = ()
    """Tenants of the ``identities_file`` whose callers see and cancel the evaluations of all, such
    as ``["operations"]``. Every other caller sees those of its own tenant."""

    retention_days: float = Field(default=90.0, gt=0)
    """How long an evaluation is kept when it has ended, in days."""
