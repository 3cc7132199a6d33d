"""The tables of records in a database of an earlier version."""

import asyncio
import sys
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from scaar.core.records import RecordFilter
from scaar.core.types import RequestKind
from scaar.database.database import Database, open_database
from scaar.database.migration import _config, newest, open_checked_database, revision
from scaar.records.service import StoredRecords
from scaar.records.store.schema import SCHEMA
from scaar.records.store.tables import METADATA

from .test_service import ids

FIRST = """
INSERT INTO answer_records (id, request_id, tenant, created_ms, content, policy, artefact_digest,
    model, "index", question, answer, failure, judged_drafts, uncertain_drafts, sentences,
    degraded_sentences, retrievals, generated_tokens, prompt_tokens, latency_ms, abstained,
    trace_id, size)
VALUES ('first', 'r-1', 'default', 0, 'full', 'scaar', '', 'lab-lm', 'lab', 'Where?', 'London', '',
    1, 0, 1, 0, 0, 8, 9, 1.5, 0, '', 10)
"""
"""A record as version 0001 writes it."""


async def test_the_migrations_create_the_tables_that_the_code_reads(database: Database) -> None:
    def differences(connection: sa.Connection) -> list[object]:
        options = {"version_table": SCHEMA.version_table}
        context = MigrationContext.configure(connection, opts=options)
        return list(compare_metadata(context, METADATA))

    async with database.reading() as connection:
        assert await connection.run_sync(differences) == []


async def test_the_records_of_a_file_of_the_first_version_are_questions(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/records.sqlite"
    async with open_database(url, SCHEMA) as database, database.writing() as connection:
        await connection.run_sync(_create_first)
    async with open_checked_database(url, SCHEMA) as database:
        assert await revision(database) == newest(SCHEMA)
        async with database.writing() as connection:
            # By a process that has not been replaced yet.
            await connection.execute(sa.text(FIRST.replace("'first'", "'second'")))
        records = StoredRecords(database, operators=())
        questions = await records.list_records(RecordFilter(kind=RequestKind.QUESTION))
        tasks = await records.list_records(RecordFilter(kind=RequestKind.TASK))
    assert ids(questions.records) == ["second", "first"]
    assert tasks.records == ()


async def test_processes_that_open_an_earlier_file_together_migrate_it_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/records.sqlite"
    async with open_database(url, SCHEMA) as database, database.writing() as connection:
        await connection.run_sync(_create_first)
    opening = (
        f"import asyncio; from scaar.database.migration import open_checked_database as opened; "
        f"from scaar.records.store.schema import SCHEMA; "
        f"asyncio.run(opened({url!r}, SCHEMA).__aenter__())"
    )
    started = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", opening) for _ in range(4)
    ]
    assert [await each.wait() for each in started] == [0, 0, 0, 0]


def _create_first(connection: sa.Connection) -> None:
    config = _config(SCHEMA)
    config.attributes["connection"] = connection
    command.upgrade(config, "0001")
    connection.execute(sa.text(FIRST))
