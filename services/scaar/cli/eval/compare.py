"""``scaar eval compare``: paired differences of two evaluations of the same questions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scaar.cli.eval.table import NAMES
from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Format, Interval, Table, interval, number, print_table
from scaar.core.errors import InvalidRequest
from scaar.core.plurals import are, counted
from scaar.evaluator.results import Results
from scaar.evaluator.store.folder import read_results

if TYPE_CHECKING:
    from scaar.evaluator.scoring.comparison import Comparison


def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="Folder of an evaluation.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="Folder of another evaluation.")],
    output: Format = None,
) -> None:
    """Compare two evaluations of the same questions.

    The table has a row for each setting, with paired differences B - A and 95% intervals.
    """
    from scaar.evaluator.scoring.comparison import compare as compare_results
    from scaar.evaluator.scoring.scores import scores_of

    first, second = read_results(before), read_results(after)
    try:
        found = compare_results(first, second, scores=(scores_of(first), scores_of(second)))
    except InvalidRequest as error:
        problem = "; ".join(each.description for each in error.violations)
        advice = "run both on the same data set, with at least one setting in common"
        raise InvalidRequest.of(
            f"{before} (A) and {after} (B)", f"B {problem}; {advice}"
        ) from error
    print_table(_table(found), output)
    print_notes(*_notes(found, (before, first), (after, second)))


def _table(found: "Comparison") -> Table:
    name = NAMES.get(found.measure, found.measure)
    columns = (
        Column("setting", right=False),
        Column(f"{found.measure}_a", f"{name} A", number(3)),
        Column(f"{found.measure}_b", f"{name} B", number(3)),
        Column("difference", "B - A [95%]", interval(3, sign="+")),
        Column("p", text=number(3)),
        Column("retrievals", "N_R", number(2, sign="+")),
        Column("generated_tokens", "tokens", number(0, sign="+")),
        Column("latency_ms", "ms", number(0, sign="+")),
    )
    rows = [
        (
            each.setting,
            each.before,
            each.after,
            Interval.of(each.difference),
            each.difference.holm,
            *(one.value or 0.0 for one in each.usage),
        )
        for each in found.compared
    ]
    return Table(columns, rows)


def _notes(
    found: "Comparison", before: tuple[Path, Results], after: tuple[Path, Results]
) -> list[str]:
    name = NAMES.get(found.measure, found.measure)
    lines = [
        f"{counted(found.questions, 'question')} in both; A is {before[0]}, B is {after[0]}",
        f"{name}: paired difference with p after Holm; other columns are differences",
    ]
    for (_, results), side in ((before, "A"), (after, "B")):
        if results.missing:
            count = f"{counted(results.missing, 'prediction')} of {side} {are(results.missing)}"
            lines.append(f"{count} missing, counted as 0")
    for side, labels in (("A", found.only_before), ("B", found.only_after)):
        if labels:
            lines.append(f"only in {side}: {', '.join(labels)}")
    return lines
