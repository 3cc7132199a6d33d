"""``scaar eval import``: read the results of an earlier version into a database."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from scaar.core.errors import InvalidRequest
from scaar.evaluator.store.earlier_folder import read_earlier
from scaar.evaluator.store.folder import DATABASE, check_is_folder


def import_results(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder with evaluation.json.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the database, a new one. Default: the folder itself.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Read the results of an earlier version.

    The files are kept, and evaluations.sqlite is written: the commands of scaar eval read it, and
    scaar eval run resumes it.
    """
    # Only commands that write evaluations load the libraries of the database.
    from scaar.evaluator.store.database.stored_results import store_results

    results, target = read_earlier(folder), out or folder
    if out is not None:
        check_is_folder(out, DATABASE)
    if (target / DATABASE).exists():
        raise InvalidRequest.of("--out", f"{target} already contains {DATABASE}")
    asyncio.run(store_results(target, results))
    print(target / DATABASE)
