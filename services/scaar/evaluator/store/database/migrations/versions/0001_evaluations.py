"""Evaluations, their questions, shards and predictions."""

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
        "tenants",
        sa.Column("name", sa.String(128), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_tenants"),
    )
    op.create_table(
        "evaluations",
        sa.Column("number", _Number, autoincrement=True, nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("tenant", sa.String(128), nullable=False),
        sa.Column("request_id", sa.String(128), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("evaluation", sa.Text),
        sa.Column("prompt_profile", sa.Text, nullable=False, server_default=""),
        sa.Column("wanted", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("started_at", sa.Double),
        sa.Column("ended_at", sa.Double),
        sa.Column("error_reason", sa.String(64)),
        sa.Column("error_message", sa.Text),
        sa.PrimaryKeyConstraint("number", name="pk_evaluations"),
        sa.UniqueConstraint("id", name="uq_evaluations_id"),
        sa.UniqueConstraint("tenant", "request_id", name="uq_evaluations_tenant_request_id"),
    )
    op.create_index("ix_evaluations_state", "evaluations", ["state"])
    op.create_table(
        "questions",
        sa.Column("evaluation", _Number, nullable=False),
        sa.Column("position", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("evaluation", "position", name="pk_questions"),
        _of_evaluation("questions"),
    )
    op.create_table(
        "shards",
        sa.Column("evaluation", _Number, nullable=False),
        sa.Column("number", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("first", sa.Integer, nullable=False),
        sa.Column("last", sa.Integer, nullable=False),
        sa.Column("done", sa.Boolean, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("faults", sa.Integer, nullable=False),
        sa.Column("holder", sa.String(128)),
        sa.Column("lease_until", sa.Double),
        sa.PrimaryKeyConstraint("evaluation", "number", name="pk_shards"),
        _of_evaluation("shards"),
    )
    op.create_table(
        "predictions",
        sa.Column("evaluation", _Number, nullable=False),
        sa.Column("question", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("setting", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("settled", sa.Boolean, nullable=False),
        sa.Column("failed", sa.Boolean, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("retrievals", sa.Integer, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("evaluation", "question", "setting", name="pk_predictions"),
        _of_evaluation("predictions"),
    )
    op.create_index(
        "ix_predictions_figures",
        "predictions",
        ["evaluation", "settled", "setting", "failed", "score", "retrievals"],
    )


def downgrade() -> None:
    """Drop the tables."""
    for name in ("predictions", "shards", "questions", "evaluations", "tenants"):
        op.drop_table(name)


def _of_evaluation(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["evaluation"],
        ["evaluations.number"],
        name=f"fk_{table}_evaluation",
        ondelete="CASCADE",
    )
