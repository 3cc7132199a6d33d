"""The tables of evaluations.

A prediction has one row, regardless of which process makes it, and how often. Times are seconds
since 1970. Records that are always read as a whole are JSON in one column.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_Number = BigInteger().with_variant(Integer, "sqlite")


def _of_evaluation() -> Column[int]:
    owner = ForeignKey("evaluations.number", ondelete="CASCADE")
    return Column("evaluation", _Number, owner, primary_key=True)


TENANTS = Table(
    "tenants",
    METADATA,
    # A row to lock, so that two concurrent requests of a tenant cannot exceed its limit.
    Column("name", String(128), primary_key=True),
)

EVALUATIONS = Table(
    "evaluations",
    METADATA,
    # Increases with every evaluation, unlike clocks.
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("tenant", String(128), nullable=False),
    Column("request_id", String(128), nullable=False),
    Column("state", String(16), nullable=False),
    # specification.EvaluationSpec, and results.Evaluation once the evaluation has started.
    Column("specification", Text, nullable=False),
    Column("evaluation", Text),
    Column("prompt_profile", Text, nullable=False, server_default=""),
    # specification.PlannedSettings, once the evaluation has started.
    Column("planned", Text),
    # The number of the evaluation whose first pass this is. First passes are not listed.
    Column("parent", _Number),
    # The number of predictions; with a grid, the expected number until the evaluation starts.
    Column("total", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("ended_at", Double),
    Column("error_reason", String(64)),
    Column("error_message", Text),
    UniqueConstraint("tenant", "request_id"),
    Index(None, "state"),
    Index(None, "parent"),
)

QUESTIONS = Table(
    "questions",
    METADATA,
    _of_evaluation(),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("record", Text, nullable=False),
)

SHARDS = Table(
    "shards",
    METADATA,
    _of_evaluation(),
    Column("number", Integer, primary_key=True, autoincrement=False),
    # The positions of its questions: [first, last).
    Column("first", Integer, nullable=False),
    Column("last", Integer, nullable=False),
    Column("done", Boolean, nullable=False),
    # How often it was leased. A holder whose number has changed no longer has the lease, whatever
    # its clock says.
    Column("attempt", Integer, nullable=False),
    # How often its holder was lost or stopped with an internal error.
    Column("faults", Integer, nullable=False),
    Column("holder", String(128)),
    Column("lease_until", Double),
)

PREDICTIONS = Table(
    "predictions",
    METADATA,
    _of_evaluation(),
    Column("question", Integer, primary_key=True, autoincrement=False),
    Column("setting", Integer, primary_key=True, autoincrement=False),
    # Whether the prediction is final: an answer, or a failure after the last attempt.
    Column("settled", Boolean, nullable=False),
    Column("failed", Boolean, nullable=False),
    Column("attempts", Integer, nullable=False),
    # The main measure and the retrievals, from which running figures are computed.
    Column("score", Double, nullable=False),
    Column("retrievals", Integer, nullable=False),
    Column("record", Text, nullable=False),
    Index(
        "ix_predictions_figures",
        *("evaluation", "settled", "setting", "failed", "score", "retrievals"),
    ),
)

STUDIES = Table(
    "studies",
    METADATA,
    # A folder has at most one study; the name is that of its command: queries, longtail.
    Column("name", String(32), primary_key=True),
    Column("settings", Text, nullable=False),
)

STUDY_RECORDS = Table(
    "study_records",
    METADATA,
    Column("study", String(32), ForeignKey("studies.name", ondelete="CASCADE"), primary_key=True),
    # The kind of the record, and the position of its question.
    Column("part", String(128), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("record", Text, nullable=False),
)
