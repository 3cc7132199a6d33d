"""The tables of a database, brought to those of this version."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from scaar.core.errors import NotFound, WrongState
from scaar.evaluator.store.database.opening import Database

_FOLDER = Path(__file__).parent / "migrations"


async def upgrade(database: Database) -> str:
    """Brings the tables to those of this version; the revision that they are of now.

    Raises:
        WrongState: they are of a later version.
    """
    found = await revision(database)
    _require_known(database, found)
    async with database.writing() as connection:
        await connection.run_sync(_upgrade)
    return newest()


async def check(database: Database) -> str:
    """Passes a database whose tables are those of this version; their revision.

    Raises:
        NotFound: there are none.
        WrongState: they are of an earlier or a later version.
    """
    found = await revision(database)
    if found is None:
        text = f"the database {database.name} has no tables of evaluations; make them with"
        raise NotFound(f"{text} scaar db upgrade")
    _require_known(database, found)
    if found != newest():
        text = f"the tables of {database.name} are of revision {found}, and this scaar's of"
        raise WrongState(f"{text} {newest()}; bring them up with scaar db upgrade")
    return found


async def revision(database: Database) -> str | None:
    """The revision of the tables; None where there are none."""
    async with database.reading() as connection:
        return await connection.run_sync(_revision)


def newest() -> str:
    """The revision of this version's tables."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None
    return head


def _require_known(database: Database, found: str | None) -> None:
    known = {each.revision for each in ScriptDirectory.from_config(_config()).walk_revisions()}
    if found is not None and found not in known:
        text = f"the tables of {database.name} are of revision {found}, which this scaar does not"
        raise WrongState(f"{text} know: they are a later version's")


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
