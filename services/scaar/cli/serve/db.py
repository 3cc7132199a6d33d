"""``scaar db``: manage the tables of the evaluator's database."""

import asyncio
from typing import Annotated

import typer

from scaar.compose import evaluator_database
from scaar.evaluator.settings import EvaluatorSettings

app = typer.Typer(help="Manage the tables of the evaluator's database.", no_args_is_help=True)

Url = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="Database: sqlite:///FILE or postgresql://USER@HOST/NAME. Default: the setting "
        "SCAAR_EVALUATOR_DATABASE, else evaluations.sqlite in SCAAR_HOME.",
        show_default=False,
    ),
]


@app.command("upgrade")
def upgrade(database: Url = None) -> None:
    """Create the tables, or migrate them to this version."""
    asyncio.run(_upgrade(_url(database)))


@app.command("check")
def check(database: Url = None) -> None:
    """Check that the tables match this version.

    The exit status is 1 when they do not.
    """
    asyncio.run(_check(_url(database)))


async def _upgrade(url: str) -> None:
    # SQLAlchemy and Alembic are loaded only by the commands that use them.
    from scaar.evaluator.store.database.database import file_of, open_database
    from scaar.evaluator.store.database.migration import upgrade as upgrade_tables

    file = file_of(url)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
    async with open_database(url) as opened:
        print(f"{opened.name} has tables of revision {await upgrade_tables(opened)}")


async def _check(url: str) -> None:
    from scaar.evaluator.store.database.database import open_database, require_file
    from scaar.evaluator.store.database.migration import check as check_tables

    require_file(url)
    async with open_database(url) as opened:
        print(f"{opened.name} has tables of revision {await check_tables(opened)}")


def _url(given: str | None) -> str:
    return given or evaluator_database(EvaluatorSettings.read())
