"""``scaar db``: manage the tables of evaluations and of records."""

import asyncio
import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from scaar.compose import evaluator_database, records_database
from scaar.evaluator.settings import EvaluatorSettings
from scaar.records.settings import RecordsSettings

if TYPE_CHECKING:
    from scaar.database.database import Schema

app = typer.Typer(help="Manage the tables of evaluations and of records.", no_args_is_help=True)


class Contents(enum.StrEnum):
    """What the tables hold."""

    EVALUATIONS = "evaluations"
    RECORDS = "records"


Url = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="Database: sqlite:///FILE or postgresql://USER@HOST/NAME. Default: the setting "
        "SCAAR_EVALUATOR_DATABASE or SCAAR_RECORDS_DATABASE, else evaluations.sqlite or "
        "records.sqlite in SCAAR_HOME.",
    ),
]
Tables = Annotated[Contents, typer.Option("--tables", help="The tables to manage.")]


@app.command("upgrade")
def upgrade(database: Url = None, tables: Tables = Contents.EVALUATIONS) -> None:
    """Create the tables, or migrate them to this version."""
    asyncio.run(_upgrade(database or _url(tables), _schema(tables)))


@app.command("check")
def check(database: Url = None, tables: Tables = Contents.EVALUATIONS) -> None:
    """Check that the tables match this version.

    The exit status is 1 when they do not.
    """
    asyncio.run(_check(database or _url(tables), _schema(tables)))


@app.command("backup")
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="New file.")],
    database: Url = None,
    tables: Tables = Contents.EVALUATIONS,
) -> None:
    """Copy an SQLite database in use to a new file.

    To restore, stop the services, rename the file to the name of the database, and remove the files
    next to it that end in -wal and -shm. Databases of PostgreSQL have pg_dump.
    """
    from scaar.database.backup import back_up

    back_up(database or _url(tables), _schema(tables), file)


async def _upgrade(url: str, schema: "Schema") -> None:
    # SQLAlchemy and Alembic are loaded only by the commands that use them.
    from scaar.database.database import create_folder, open_database
    from scaar.database.migration import upgrade as upgrade_tables

    create_folder(url, schema)
    async with open_database(url, schema) as opened:
        print(f"{opened.name} has tables of revision {await upgrade_tables(opened)}")


async def _check(url: str, schema: "Schema") -> None:
    from scaar.database.database import open_database, require_file
    from scaar.database.migration import check as check_tables

    require_file(url, schema)
    async with open_database(url, schema) as opened:
        print(f"{opened.name} has tables of revision {await check_tables(opened)}")


def _url(tables: Contents) -> str:
    if tables is Contents.RECORDS:
        return records_database(RecordsSettings.read())
    return evaluator_database(EvaluatorSettings.read())


def _schema(tables: Contents) -> "Schema":
    match tables:
        case Contents.EVALUATIONS:
            from scaar.evaluator.store.database.schema import SCHEMA as EVALUATIONS

            return EVALUATIONS
        case Contents.RECORDS:
            from scaar.records.store.schema import SCHEMA as RECORDS

            return RECORDS
        case _:
            assert_never(tables)
