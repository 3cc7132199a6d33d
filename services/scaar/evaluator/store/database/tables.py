"""The tables of evaluations.

Of a prediction there is one row, whoever makes it and however often. Times are seconds since 1970;
what is to be read whole by one reader is JSON in one column.
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
    # A row to lock, so that two requests of a tenant do not both take the last place.
    Column("name", String(128), primary_key=True),
)

EVALUATIONS = Table(
    "evaluations",
    METADATA,
    # Rises with every evaluation; clocks do not.
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("tenant", String(128), nullable=False),
    Column("request_id", String(128), nullable=False),
    Column("state", String(16), nullable=False),
    # What was asked for (records.Asked), and once it is begun what answers (results.Evaluation).
    Column("asked", Text, nullable=False),
    Column("evaluation", Text),
    Column("prompt_profile", Text, nullable=False, server_default=""),
    Column("wanted", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("ended_at", Double),
    Column("error_reason", String(64)),
    Column("error_message", Text),
    UniqueConstraint("tenant", "request_id"),
    Index(None, "state"),
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
    # The positions of its questions, from the first to before the last.
    Column("first", Integer, nullable=False),
    Column("last", Integer, nullable=False),
    Column("done", Boolean, nullable=False),
    # How often it was taken. Who holds it holds this number too: one that was taken again since is
    # no more theirs, whatever their clock says.
    Column("attempt", Integer, nullable=False),
    # How often its holder was lost or broke off by an error of scaar's own.
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
    # Whether this is the last word: an answer is, a failure after some attempts.
    Column("settled", Boolean, nullable=False),
    Column("failed", Boolean, nullable=False),
    Column("attempts", Integer, nullable=False),
    # Of the main measure, and retrievals: what running figures are made of.
    Column("score", Double, nullable=False),
    Column("retrievals", Integer, nullable=False),
    Column("record", Text, nullable=False),
    Index(
        "ix_predictions_figures",
        *("evaluation", "settled", "setting", "failed", "score", "retrievals"),
    ),
)
