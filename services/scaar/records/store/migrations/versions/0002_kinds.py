"""Kinds: records of questions, as all were before, and of tasks."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    kind = sa.Column("kind", sa.String(16), nullable=False, server_default="question")
    op.add_column("answer_records", kind)


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("answer_records", "kind")
