import asyncio
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from scaar.core.errors import NotFound, WrongState
from scaar.core.types import BudgetLimits
from scaar.database.database import Database, open_database
from scaar.database.migration import (
    check,
    newest,
    open_checked_database,
    revision,
    upgrade,
)
from scaar.evaluator.store.database.evaluations import get_evaluation, questions_of
from scaar.evaluator.store.database.predictions import every_prediction
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.evaluator.store.database.tables import METADATA
from scaar.evaluator.store.database.transitions import started_evaluation_of
from scaar.testing.evaluations import EVALUATION, LABELS, QUESTIONS, prediction

from .stored import SPEC

# A database of revision 0001, written by the code of that revision: the running evaluation "a" with
# two predictions, and the queued evaluation "b".
REVISION_0001 = Path(__file__).with_name("revision_0001.sql")


async def test_the_migrations_create_the_tables_that_the_code_reads(database: Database) -> None:
    def differences(connection: sa.Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection), METADATA))

    async with database.reading() as connection:
        assert await connection.run_sync(differences) == []


async def test_an_upgrade_can_be_repeated(database: Database) -> None:
    assert await upgrade(database) == await check(database) == newest(SCHEMA)


async def test_several_databases_are_upgraded_concurrently(tmp_path: Path) -> None:
    async def opened(name: str) -> str | None:
        async with open_checked_database(f"sqlite:///{tmp_path}/{name}", SCHEMA) as database:
            return await revision(database)

    assert await asyncio.gather(*map(opened, "abc")) == [newest(SCHEMA)] * 3


async def test_the_error_of_a_database_without_tables_names_the_command(tmp_path: Path) -> None:
    async with open_database(f"sqlite:///{tmp_path}/empty.sqlite", SCHEMA) as database:
        assert await revision(database) is None
        with pytest.raises(NotFound, match="create them with scaar db upgrade"):
            await check(database)


async def test_tables_of_a_later_version_are_left_alone(database: Database) -> None:
    async with database.writing() as connection:
        await connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    for ask in (check, upgrade):
        with pytest.raises(WrongState, match="revision 9999, which belongs to a later version"):
            await ask(database)


async def test_an_upgrade_of_revision_0001_keeps_every_row(tmp_path: Path) -> None:
    path = tmp_path / "before.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(REVISION_0001.read_text(encoding="utf-8"))
    async with open_database(f"sqlite:///{path}", SCHEMA) as database:
        assert await revision(database) == "0001"
        await upgrade(database)
        running, queued = [await get_evaluation(database, name) for name in "ab"]
        assert (running.total, running.done, running.spec) == (6, 2, SPEC)
        assert (queued.total, queued.done, queued.spec) == (6, 0, SPEC)
        # A limit that had its default value was not stored.
        evaluation = replace(EVALUATION, budget=BudgetLimits())
        assert (await started_evaluation_of(database, running.number)).evaluation == evaluation
        for each in (running, queued):
            assert await questions_of(database, each.number) == QUESTIONS
        kept = [each async for each in every_prediction(database, running.number)]
        assert kept == [prediction(label, "q1") for label in LABELS[:2]]


async def test_the_only_process_of_a_database_migrates_it(tmp_path: Path) -> None:
    path = tmp_path / "before.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(REVISION_0001.read_text(encoding="utf-8"))
    with pytest.raises(WrongState, match="have revision 0001"):
        async with open_checked_database(f"sqlite:///{path}", SCHEMA):
            pass
    async with open_checked_database(f"sqlite:///{path}", SCHEMA, exclusive=True) as database:
        assert await check(database) == newest(SCHEMA)
