"""``scaar eval export`` and ``import``: results for other tools, and of earlier versions."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.addresses import OptionalEvaluator
from scaar.cli.eval.fields import named_by_options
from scaar.cli.eval.options import EvaluationName
from scaar.core.errors import InvalidRequest
from scaar.core.plurals import are, counted
from scaar.evaluation.exports import ExportFormat
from scaar.evaluation.exports import export as write_export
from scaar.evaluation.results import of_service, of_stored
from scaar.evaluator.store.earlier_folder import (
    earlier_command,
    read_earlier,
    read_earlier_study,
)
from scaar.evaluator.store.folder import DATABASE, EARLIER, check_is_folder, read_results
from scaar.evaluator.studies.longtail.folder import LABELLING


def export(
    results: EvaluationName,
    export_format: Annotated[ExportFormat, typer.Option("--format", help="Format of the export.")],
    out: Annotated[Path, typer.Option(metavar="PATH", help="File to write; for trec a folder.")],
    target: OptionalEvaluator = None,
) -> None:
    """Write results for other tools.

    jsonl, csv and parquet have a row for each prediction, predictions has the stored records of a
    folder, latex a table of the settings, and trec the retrieved passages as runs, with qrels.
    """
    if target is None:
        found = of_stored(read_results(Path(results)))
    else:
        found = of_service(target, results)
    with named_by_options():
        write_export(found, export_format, out)
    if found.missing:
        text = f"{counted(found.missing, 'prediction')} {are(found.missing)} missing"
        print(f"{text}: the evaluation is not complete", file=sys.stderr)
    print(out)


def import_results(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help=f"Folder with {' or '.join(EARLIER.values())}.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for the database, a new one. Default: the folder itself."
        ),
    ] = None,
) -> None:
    """Read the results of an earlier version.

    The files are kept, and evaluations.sqlite is written: the commands of scaar eval read it, and
    the command that wrote the files resumes it.
    """
    # Only commands that write evaluations load the libraries of the database.
    from scaar.evaluator.store.database.stored_results import store_results, store_study

    command, target = earlier_command(folder), out or folder
    if out is not None:
        check_is_folder(out, command)
    if (target / DATABASE).exists():
        raise InvalidRequest.of("--out", f"{target} already contains {DATABASE}")

    if command == LABELLING.name:
        asyncio.run(store_study(target, LABELLING, read_earlier_study(folder, LABELLING)))
    else:
        asyncio.run(store_results(target, read_earlier(folder)))
    print(target / DATABASE)
