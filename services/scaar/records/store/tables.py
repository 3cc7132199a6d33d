"""The tables of records.

The columns of a record, by which it is listed, are apart from its content, so that a list reads
little. Times are milliseconds since 1970.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
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


def _of_record() -> Column[int]:
    owner = ForeignKey("answer_records.number", ondelete="CASCADE")
    return Column("record", _Number, owner, primary_key=True, autoincrement=False)


RECORDS = Table(
    "answer_records",
    METADATA,
    # Increases with every record that is written, unlike clocks.
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("request_id", String(128), nullable=False),
    Column("tenant", String(128), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("content", String(16), nullable=False),
    Column("policy", String(128), nullable=False),
    Column("artefact_digest", String(64), nullable=False),
    Column("model", Text, nullable=False),
    Column("index", String(64), nullable=False),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("failure", String(64), nullable=False),
    Column("judged_drafts", Integer, nullable=False),
    Column("uncertain_drafts", Integer, nullable=False),
    Column("sentences", Integer, nullable=False),
    Column("degraded_sentences", Integer, nullable=False),
    Column("retrievals", Integer, nullable=False),
    Column("generated_tokens", Integer, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("latency_ms", Double, nullable=False),
    Column("mean_probability", Double),
    Column("abstained", Boolean, nullable=False),
    Column("trace_id", String(32), nullable=False),
    Column("kind", String(16), nullable=False, server_default="question"),
    # Size of the record in the store, in bytes.
    Column("size", Integer, nullable=False),
    Index(None, "tenant", "number"),
    Index(None, "request_id"),
    Index(None, "created_ms"),
    Index(None, "policy", "number"),
    # A number is never used again, so that a page token keeps its place.
    sqlite_autoincrement=True,
)

CONTENTS = Table(
    "record_contents",
    METADATA,
    _of_record(),
    # The message AnswerRecord without its summary, compressed by zlib.
    Column("content", LargeBinary, nullable=False),
)

FEEDBACK = Table(
    "record_feedback",
    METADATA,
    _of_record(),
    Column("verdict", String(16), nullable=False),
    Column("comment", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)
