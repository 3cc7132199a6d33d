"""The results of an evaluation: a table on standard output, and a report in its folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Interval, Table, TableFormat, interval, number, print_table
from scaar.core.errors import ScaarError
from scaar.core.plurals import are, counted
from scaar.evaluator.results import Results

if TYPE_CHECKING:
    from scaar.evaluator.scoring.summary import Summary

NAMES = {"f1": "F1", "exact_match": "EM"}
"""Headings of measures."""


def score_and_report(results: Results, folder: Path, output: TableFormat | None) -> int:
    """Score the predictions, write the report, print the table, and count failed predictions.

    Raises:
        ScaarError: there are no predictions, or a file cannot be written.
    """
    # Only commands that need scores load numpy.
    from scaar.evaluator.report.writer import write_report
    from scaar.evaluator.scoring.scores import scores_of
    from scaar.evaluator.scoring.summary import main_measure, summaries, table_of

    if not results.predictions:
        raise ScaarError(f"{folder} has no predictions yet")
    scores = tuple(scores_of(results))
    failed = [each.failure for each in results.predictions if each.failure is not None]
    counts = f"{counted(len(results.predictions), 'prediction')}, {len(failed)} failed"
    if len(failed) < len(results.predictions):
        table = table_of(results, scores)
        found = summaries(table, seed=results.evaluation.dataset.seed)
        timed = not results.evaluation.generations_cached
        print_table(summary_table(found, measure=main_measure(table), timed=timed), output)
        evaluation, questions, predictions = (
            results.evaluation,
            results.questions,
            results.predictions,
        )
        write_report(evaluation, questions, scores=scores, predictions=predictions, out=folder)
        counts += f"; scores and report.md are in {folder}"
    lines = [counts]
    if failed:
        lines.append(f"first failure: {failed[0].reason}: {failed[0].message}")
    if results.missing:
        text = f"{counted(results.missing, 'prediction')} {are(results.missing)} missing"
        lines.append(f"{text}, counted as 0: the evaluation is not complete")
    print_notes(*lines)
    return len(failed)


def summary_table(found: Sequence["Summary"], *, measure: str, timed: bool = True) -> Table:
    """Return the means of settings; columns of failed and missing predictions only if any."""
    incomplete = any(each.failed or each.missing for each in found)
    others = [name for name in ("exact_match",) if name in found[0].means and name != measure]
    columns = (
        Column("setting", right=False),
        *(Column(name, NAMES[name], number(3)) for name in others),
        Column(measure, f"{NAMES.get(measure, measure)} [95%]", interval(3)),
        Column("retrievals", "N_R", number(2)),
        Column("efficiency", "S_eff", number(1)),
        Column("llm_calls", "calls", number(2)),
        Column("generated_tokens", "tokens", number(0)),
        Column("latency_ms", "ms", number(0)),
        *((Column("failed"), Column("missing")) if incomplete else ()),
    )
    rows = [
        (
            each.setting,
            *(each.means[name] for name in others),
            Interval(each.means[measure], each.main.low, each.main.high),
            each.means["retrievals"],
            each.efficiency,
            each.means["llm_calls"],
            each.means["generated_tokens"],
            each.means["latency_ms"] if timed else None,
            *((each.failed, each.missing) if incomplete else ()),
        )
        for each in found
    ]
    return Table(columns, rows)
