"""``scaar eval gates``: gates and routers trained on answered questions, and compared."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from scaar.cli.eval import options
from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Format, Table, print_table
from scaar.core.distributions import library_required
from scaar.core.plurals import counted
from scaar.evaluator.studies.gates import REPEATS
from scaar.evaluator.studies.gates.answered import default_encoder_of, read_answered


def gates(
    sources: options.AnsweredSources,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the report.")],
    encoder: options.EncoderFolder = None,
    answers: options.AnswerFields = "",
    repeats: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=100, help="Repetitions of the cross-validation."),
    ] = REPEATS,
    output: Format = None,
) -> None:
    """Train gates on answered questions, and compare them.

    No model is called. Gates judge questions that they were not trained on, by repeated nested
    cross-validation and, with several sources, from each data set to each other one.
    """
    answered = read_answered(sources, answers)
    folder = encoder or default_encoder_of(answered)
    with library_required("the comparison of gates", "scorer"):
        from scaar.encoders.sentence_encoder import SentenceEncoder
        from scaar.evaluator.report.model import interval_text, value_text
        from scaar.evaluator.studies.gates.run import GateComparison, compare_gates
    from scaar.evaluator.studies.longtail.frequencies import english_frequencies

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("training gates", total=1.0)
        report = compare_gates(
            answered,
            SentenceEncoder.open(folder, threads=1),
            english_frequencies(),
            out,
            comparison=GateComparison(repeats=repeats),
            progress=lambda share: bar.update(task, completed=share),
        )
    table = next(each for each in report.tables() if each.name == "auroc")
    rows = [
        tuple(
            f"{value_text(cell, column)} {interval_text(cell, column)}".strip()
            for cell, column in zip(cells, table.columns, strict=True)
        )
        for cells in table.rows
    ]
    print_table(
        Table([Column(each.name, each.title, right=False) for each in table.columns], rows), output
    )
    print_notes(f"{counted(len(answered), 'question')}; tables and report.md are in {out}")
