"""The schema of the evaluator's database."""

from pathlib import Path

from scaar.database.database import Schema

SCHEMA = Schema(
    contents="evaluations",
    migrations=Path(__file__).parent / "migrations",
    version_table="alembic_version",
    upgrade="scaar db upgrade",
)
