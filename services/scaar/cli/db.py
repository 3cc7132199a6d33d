"""``scaar db``: the tables of the evaluator's database."""

import asyncio
from typing import Annotated

import typer

from scaar.compose import evaluator_database
from scaar.evaluator.settings import EvaluatorSettings

app = typer.Typer(help="The tables of the evaluator's database.", no_args_is_help=True)

Url = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="sqlite:///FILE or postgresql://...; that of the evaluator's settings if not given.",
        show_default=False,
    ),
]


@app.command("upgrade")
def upgrade(database: Url = None) -> None:
    """Make the tables, or bring them to those of this version."""
    asyncio.run(_upgrade(_url(database)))


@app.command("check")
def check(database: Url = None) -> None:
    """Say whether the tables are those of this version; status 1 if not."""
    asyncio.run(_check(_url(database)))


async def _upgrade(url: str) -> None:
    # SQLAlchemy and Alembic are loaded where they are used.
    from scaar.evaluator.store.database.migrating import upgrade as upgrade_tables
    from scaar.evaluator.store.database.opening import file_of, open_database

    file = file_of(url)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
    async with open_database(url) as opened:
        print(f"{opened.name} has tables of revision {await upgrade_tables(opened)}")


async def _check(url: str) -> None:
    from scaar.evaluator.store.database.migrating import check as check_tables
    from scaar.evaluator.store.database.opening import open_database, require_file

    require_file(url)
    async with open_database(url) as opened:
        print(f"{opened.name} has tables of revision {await check_tables(opened)}")


def _url(given: str | None) -> str:
    return given or evaluator_database(EvaluatorSettings.read())
