"""``scaar eval export``: write the results of an evaluation for other tools."""

from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.addresses import OptionalEvaluator
from scaar.cli.eval.fields import named_by_options
from scaar.cli.eval.options import EvaluationName
from scaar.evaluation.exports import ExportFormat
from scaar.evaluation.exports import export as write_export
from scaar.evaluation.results import Results, of_service


def export(
    results: EvaluationName,
    export_format: Annotated[
        ExportFormat, typer.Option("--format", help="Format of the export.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option(metavar="PATH", help="File to write; for trec a folder.", show_default=False),
    ],
    target: OptionalEvaluator = None,
) -> None:
    """Write results for other tools.

    jsonl, csv and parquet have a row for each prediction, predictions has the stored records of a
    folder, latex a table of the settings, and trec the retrieved passages as runs, with qrels.
    """
    found = Results.load(results) if target is None else of_service(target, results)
    with named_by_options():
        write_export(found, export_format, out)
    print(out)
