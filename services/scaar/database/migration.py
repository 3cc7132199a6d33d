"""Migrations of the tables of a database to this version."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from scaar.core.errors import NotFound, WrongState
from scaar.database.database import Database, Schema, create_folder, file_of, open_database

# Alembic has one connection and one configuration for the process.
_UPGRADING = threading.Lock()


@asynccontextmanager
async def open_checked_database(
    url: str, schema: Schema, *, exclusive: bool = False
) -> AsyncIterator[Database]:
    """Open a database with the tables of this version; create an SQLite file that is missing.

    With ``exclusive``, no other process uses the database, and its tables are migrated, as are
    those of an SQLite file if the schema allows it.

    Raises:
        BackendUnavailable: the database does not respond, or its file cannot be created.
        NotFound: the database has no tables.
        WrongState: the tables belong to another version; if they are migrated, to a later one.
    """
    async with open_database(url, schema) as database:
        await prepare(database, url, exclusive=exclusive)
        yield database


async def prepare(database: Database, url: str, *, exclusive: bool = False) -> None:
    """Create or migrate the tables of the database at the URL where that is permitted; check them.

    Raises:
        BackendUnavailable, NotFound, WrongState: as :func:`open_checked_database`.
    """
    schema = database.schema
    is_new = create_folder(url, schema)
    migrates = exclusive or (schema.migrates_files and file_of(url) is not None)
    if is_new or (migrates and await revision(database) != newest(schema)):
        await upgrade(database)
    else:
        await check(database)


async def upgrade(database: Database) -> str:
    """Migrate the tables to this version, and return their revision.

    Raises:
        WrongState: the tables belong to a later version.
    """
    found = await revision(database)
    _require_known(database, found)
    # Another upgrade can be of a task of this loop, so that the loop must not block.
    while not _UPGRADING.acquire(blocking=False):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    try:
        async with database.writing() as connection:
            await connection.run_sync(_upgrade, database.schema)
    finally:
        _UPGRADING.release()
    return newest(database.schema)


async def check(database: Database) -> str:
    """Check that the tables are those of this version, and return their revision.

    Raises:
        NotFound: there are no tables.
        WrongState: the tables belong to an earlier or a later version.
    """
    found, schema = await revision(database), database.schema
    if found is None:
        text = f"the database {database.name} has no tables of {schema.contents}; create them with"
        raise NotFound(f"{text} {schema.upgrade}")
    _require_known(database, found)
    if found != newest(schema):
        text = f"the tables of {database.name} have revision {found}, and this version of scaar"
        raise WrongState(f"{text} needs {newest(schema)}; migrate them with {schema.upgrade}")
    return found


async def revision(database: Database) -> str | None:
    """Return the revision of the tables; None if there are no tables."""
    async with database.reading() as connection:
        return await connection.run_sync(_revision, database.schema)


def newest(schema: Schema) -> str:
    """Return the revision of the tables of this version."""
    head = ScriptDirectory.from_config(_config(schema)).get_current_head()
    assert head is not None
    return head


def _require_known(database: Database, found: str | None) -> None:
    scripts = ScriptDirectory.from_config(_config(database.schema))
    known = {each.revision for each in scripts.walk_revisions()}
    if found is not None and found not in known:
        text = f"the tables of {database.name} have revision {found}, which belongs to a later"
        raise WrongState(f"{text} version of scaar")


def _revision(connection: sa.Connection, schema: Schema) -> str | None:
    options = {"version_table": schema.version_table}
    return MigrationContext.configure(connection, opts=options).get_current_revision()


def _upgrade(connection: sa.Connection, schema: Schema) -> None:
    config = _config(schema)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _config(schema: Schema) -> Config:
    config = Config()
    folder = str(schema.migrations).replace("%", "%%")
    config.set_main_option("script_location", folder)
    return config
