"""Migrations of the tables of a database to this version."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from scaar.core.errors import NotFound, WrongState
from scaar.evaluator.store.database.database import Database, file_of, open_database

_FOLDER = Path(__file__).parent / "migrations"


@asynccontextmanager
async def open_checked_database(url: str, *, exclusive: bool = False) -> AsyncIterator[Database]:
    """Open a database with the tables of this version; create an SQLite file that is missing.

    With ``exclusive``, no other process uses the database, and its tables are migrated.

    Raises:
        NotFound: the database has no tables.
        WrongState: the tables belong to another version; with ``exclusive``, to a later one.
    """
    file = file_of(url)
    is_new = file is not None and not file.exists()
    if file is not None and is_new:
        file.parent.mkdir(parents=True, exist_ok=True)
    async with open_database(url) as database:
        if is_new or (exclusive and await revision(database) != newest()):
            await upgrade(database)
        else:
            await check(database)
        yield database


async def upgrade(database: Database) -> str:
    """Migrate the tables to this version, and return their revision.

    Raises:
        WrongState: the tables belong to a later version.
    """
    found = await revision(database)
    _require_known(database, found)
    async with database.writing() as connection:
        await connection.run_sync(_upgrade)
    return newest()


async def check(database: Database) -> str:
    """Check that the tables are those of this version, and return their revision.

    Raises:
        NotFound: there are no tables.
        WrongState: the tables belong to an earlier or a later version.
    """
    found = await revision(database)
    if found is None:
        text = f"the database {database.name} has no tables of evaluations; create them with"
        raise NotFound(f"{text} scaar db upgrade")
    _require_known(database, found)
    if found != newest():
        text = f"the tables of {database.name} have revision {found}, and this version of scaar"
        raise WrongState(f"{text} needs {newest()}; migrate them with scaar db upgrade")
    return found


async def revision(database: Database) -> str | None:
    """Return the revision of the tables; None if there are no tables."""
    async with database.reading() as connection:
        return await connection.run_sync(_revision)


def newest() -> str:
    """Return the revision of the tables of this version."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None
    return head


def _require_known(database: Database, found: str | None) -> None:
    known = {each.revision for each in ScriptDirectory.from_config(_config()).walk_revisions()}
    if found is not None and found not in known:
        text = f"the tables of {database.name} have revision {found}, which belongs to a later"
        raise WrongState(f"{text} version of scaar")


def _revision(connection: sa.Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _upgrade(connection: sa.Connection) -> None:
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    return config
