"""The schema of the database of records."""

from pathlib import Path

from scaar.database.database import Schema

SCHEMA = Schema(
    contents="records",
    migrations=Path(__file__).parent / "migrations",
    version_table="records_version",
    upgrade="scaar db upgrade --tables records",
    migrates_files=True,
)
