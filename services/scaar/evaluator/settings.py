"""The evaluator's settings, from ``SCAAR_EVALUATOR_*``."""

from collections.abc import Mapping
from pathlib import Path

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
    """Questions asked at a time in a shard."""

    shards_at_once: int = Field(default=1, ge=1, le=64)
    """Shards worked on at a time in this process."""

    shard_predictions: int = Field(default=200, ge=1, le=10_000)
    """About how many predictions a shard is of; what is asked again when its holder is lost is less
    than that, since every prediction is kept as it comes."""

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

    retention_days: float = Field(default=90.0, gt=0)
    """How long an evaluation is kept when it has ended, in days."""
