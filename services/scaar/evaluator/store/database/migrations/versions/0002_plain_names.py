"""Plain names: evaluations.wanted becomes total, evaluations.asked becomes specification."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_RENAMED = (("wanted", "total"), ("asked", "specification"))


def upgrade() -> None:
    """Rename the columns."""
    for old, new in _RENAMED:
        _rename(old, new)


def downgrade() -> None:
    """Restore the old names."""
    for old, new in _RENAMED:
        _rename(new, old)


def _rename(old: str, new: str) -> None:
    # op.alter_column rebuilds the table on SQLite, and dropping the old table would delete the rows
    # of all tables that refer to it.
    op.execute(f"ALTER TABLE evaluations RENAME COLUMN {old} TO {new}")
