"""Settings at start: the settings that an evaluation runs, and the first pass that places them."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_PARENT = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Add the columns; evaluations without settings of their own run those of their request."""
    op.add_column("evaluations", sa.Column("planned", sa.Text))
    op.add_column("evaluations", sa.Column("parent", _PARENT))
    op.create_index("ix_evaluations_parent", "evaluations", ["parent"])


def downgrade() -> None:
    """Drop the columns, and the first passes, which the earlier version would list."""
    op.execute("DELETE FROM evaluations WHERE parent IS NOT NULL")
    op.drop_index("ix_evaluations_parent", "evaluations")
    # op.drop_column rebuilds the table on SQLite, and dropping the old table would delete the rows
    # of all tables that refer to it.
    op.execute("ALTER TABLE evaluations DROP COLUMN parent")
    op.execute("ALTER TABLE evaluations DROP COLUMN planned")
