from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from scaar.core.errors import NotFound, WrongState
from scaar.evaluator.store.database.migrating import check, newest, revision, upgrade
from scaar.evaluator.store.database.opening import Database, open_database
from scaar.evaluator.store.database.tables import METADATA


async def test_the_steps_make_the_tables_that_the_code_reads(database: Database) -> None:
    def differences(connection: sa.Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection), METADATA))

    async with database.reading() as connection:
        assert await connection.run_sync(differences) == []


async def test_an_upgrade_may_be_made_again(database: Database) -> None:
    assert await upgrade(database) == await check(database) == newest()


async def test_a_database_without_tables_is_told_how_to_come_by_them(tmp_path: Path) -> None:
    async with open_database(f"sqlite:///{tmp_path}/empty.sqlite") as database:
        assert await revision(database) is None
        with pytest.raises(NotFound, match="make them with scaar db upgrade"):
            await check(database)


async def test_tables_of_a_later_version_are_left_alone(database: Database) -> None:
    async with database.writing() as connection:
        await connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    for ask in (check, upgrade):
        with pytest.raises(WrongState, match="revision 9999, which this scaar does not know"):
            await ask(database)
