"""``scaar eval join``: several evaluations in one report."""

from pathlib import Path
from typing import Annotated

import typer

from scaar.core.measures.interval import RESAMPLES
from scaar.evaluator.report.options import ReportOptions


def join(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="The folders of evaluations.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to: a folder of its own.")],
    measure: Annotated[
        str | None,
        typer.Option(help="What settings are chosen by; F1 where answers are free."),
    ] = None,
    resamples: Annotated[int, typer.Option(help="Draws of the bootstrap.")] = RESAMPLES,
    seed: Annotated[int, typer.Option(help="Seed of these draws.")] = 0,
) -> None:
    """Report on evaluations that differ in model, data set, seed or a number, side by side."""
    # Statistics load numpy, which no other command needs.
    from scaar.evaluator.joining.writing import write_joined

    write_joined(folders, out, ReportOptions(measure, None, resamples, seed))
    print(out / "report.html")
