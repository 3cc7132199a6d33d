"""Records, their contents and feedback."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "answer_records",
        sa.Column("number", _Number, autoincrement=True, nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("request_id", sa.String(128), nullable=False),
        sa.Column("tenant", sa.String(128), nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("content", sa.String(16), nullable=False),
        sa.Column("policy", sa.String(128), nullable=False),
        sa.Column("artefact_digest", sa.String(64), nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("index", sa.String(64), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("failure", sa.String(64), nullable=False),
        sa.Column("judged_drafts", sa.Integer, nullable=False),
        sa.Column("uncertain_drafts", sa.Integer, nullable=False),
        sa.Column("sentences", sa.Integer, nullable=False),
        sa.Column("degraded_sentences", sa.Integer, nullable=False),
        sa.Column("retrievals", sa.Integer, nullable=False),
        sa.Column("generated_tokens", sa.Integer, nullable=False),
        sa.Column("prompt_tokens", sa.Integer, nullable=False),
        sa.Column("latency_ms", sa.Double, nullable=False),
        sa.Column("mean_probability", sa.Double),
        sa.Column("abstained", sa.Boolean, nullable=False),
        sa.Column("trace_id", sa.String(32), nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_answer_records"),
        sa.UniqueConstraint("id", name="uq_answer_records_id"),
        sqlite_autoincrement=True,
    )
    for columns in (["tenant", "number"], ["request_id"], ["created_ms"], ["policy", "number"]):
        op.create_index(f"ix_answer_records_{'_'.join(columns)}", "answer_records", columns)
    op.create_table(
        "record_contents",
        sa.Column("record", _Number, autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("record", name="pk_record_contents"),
        _of_record("record_contents"),
    )
    op.create_table(
        "record_feedback",
        sa.Column("record", _Number, autoincrement=False, nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("record", name="pk_record_feedback"),
        _of_record("record_feedback"),
    )


def downgrade() -> None:
    """Drop the tables."""
    for name in ("record_feedback", "record_contents", "answer_records"):
        op.drop_table(name)


def _of_record(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["record"],
        ["answer_records.number"],
        name=f"fk_{table}_record",
        ondelete="CASCADE",
    )
