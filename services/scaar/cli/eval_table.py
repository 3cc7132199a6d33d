"""What an evaluation came to, in the terminal and in its folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from scaar.core.errors import ScaarError
from scaar.evaluator.results import Results

if TYPE_CHECKING:
    from scaar.evaluator.scoring.summary import Summary

NAMES = {"f1": "F1", "exact_match": "EM"}
"""Measures by the names that they have in tables."""

Rows = Sequence[Sequence[str]]


def score_and_tell(results: Results, folder: Path) -> int:
    """Measures the predictions, writes scores and report, prints the table; how many failed.

    Raises:
        ScaarError: there is no prediction yet, or a file cannot be written.
    """
    # NumPy is loaded where something is measured, and not at every command's start.
    from scaar.evaluator.report.writing import write_report
    from scaar.evaluator.scoring.scores import scores_of
    from scaar.evaluator.scoring.summary import main_measure, summaries, table_of

    if not results.predictions:
        raise ScaarError(f"{folder} holds no prediction yet")
    scores = tuple(scores_of(results))
    failed = [each.failure for each in results.predictions if each.failure is not None]
    made = f"{len(results.predictions)} predictions, {len(failed)} of them failed"
    if len(failed) < len(results.predictions):
        table = table_of(results, scores)
        found = summaries(table, seed=results.evaluation.dataset.seed)
        timed = not results.evaluation.generations_kept
        print_table(rows_of(found, measure=main_measure(table), timed=timed))
        evaluation, questions, predictions = (
            results.evaluation,
            results.questions,
            results.predictions,
        )
        write_report(evaluation, questions, scores=scores, predictions=predictions, out=folder)
        made += f"; with scores and report.md in {folder}"
    told = [made]
    if failed:
        told.append(f"the first that failed: {failed[0].reason}: {failed[0].message}")
    if results.missing:
        told.append(f"{results.missing} more are missing and count as 0: the run is not at its end")
    err = Console(stderr=True, highlight=False)
    for line in told:
        err.print(line, soft_wrap=True, markup=False)
    return len(failed)


def print_table(rows: Rows) -> None:
    """Prints rows under the first of them; as Markdown where no terminal shows them."""
    heading, *lines = rows
    console = Console(highlight=False)
    if not console.is_terminal:
        for row in (heading, ["---"] * len(heading), *lines):
            print(f"| {' | '.join(row)} |")
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(heading[0], overflow="fold")
    for name in heading[1:]:
        table.add_column(name.replace("[", r"\["), justify="right", no_wrap=True)
    for row in lines:
        table.add_row(*(cell.replace("[", r"\[") for cell in row))
    console.print(table)


def rows_of(found: Sequence["Summary"], *, measure: str, timed: bool = True) -> Rows:
    """The settings with their means; what failed or is missing only where something does."""
    wrong = any(each.failed or each.missing for each in found)
    others = [name for name in ("exact_match",) if name in found[0].means and name != measure]
    heading = (
        "setting",
        *(NAMES[name] for name in others),
        f"{NAMES.get(measure, measure)} [95%]",
        *("N_R", "S_eff", "calls", "tokens", "ms"),
        *(("failed", "missing") if wrong else ()),
    )
    return [heading] + [
        (
            each.setting,
            *(f"{each.means[name]:.3f}" for name in others),
            f"{each.means[measure]:.3f} [{each.main.low or 0:.3f}, {each.main.high or 0:.3f}]",
            f"{each.means['retrievals']:.2f}",
            "-" if each.efficiency is None else f"{each.efficiency:.1f}",
            f"{each.means['llm_calls']:.2f}",
            f"{each.means['generated_tokens']:.0f}",
            f"{each.means['latency_ms']:.0f}" if timed else "-",
            *((str(each.failed), str(each.missing)) if wrong else ()),
        )
        for each in found
    ]
