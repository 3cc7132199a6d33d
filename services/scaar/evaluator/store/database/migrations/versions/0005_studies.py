"""Studies: settings, questions and records of studies other than evaluations of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "studies",
        sa.Column("name", sa.String(32), nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_studies"),
    )
    op.create_table(
        "study_records",
        sa.Column("study", sa.String(32), nullable=False),
        sa.Column("part", sa.String(128), nullable=False),
        sa.Column("position", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["study"], ["studies.name"], name="fk_study_records_study", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("study", "part", "position", name="pk_study_records"),
    )


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("study_records")
    op.drop_table("studies")
