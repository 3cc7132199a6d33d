"""Failed and missing predictions: the count of all, and a list of the first."""

from collections import Counter
from dataclasses import dataclass, field

from scaar.core.plurals import are, counted
from scaar.evaluator.records import Prediction
from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import number, text
from scaar.evaluator.report.model import Column, Item, Section, Table
from scaar.evaluator.statistics.table import FAILED, MISSING

MAX_LISTED = 20
_MAX_MESSAGE = 200


@dataclass(slots=True)
class FailureCount:
    """Counts the failed predictions, and keeps the first for a list."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The number of failures by reason and setting."""
    listed: list[Prediction] = field(default_factory=list)

    def add(self, prediction: Prediction) -> None:
        """Count a prediction if it failed."""
        if prediction.failure is None:
            return
        self.counts[(prediction.failure.reason, prediction.setting)] += 1
        self.listed.append(prediction)
        if len(self.listed) > 2 * MAX_LISTED:
            self.listed = self.first()

    def first(self) -> list[Prediction]:
        """Return the first failures in the order of question and setting."""
        return sorted(self.listed, key=lambda each: (each.question_id, each.setting))[:MAX_LISTED]


def list_failures(analysis: Analysis, failures: FailureCount) -> Section:
    """Return the failures by reason and setting, or a sentence if there are none."""
    table = analysis.table
    expected = table.values.shape[0] * table.values.shape[2]
    missing = int(table.column(MISSING).sum())
    failed = int(table.column(FAILED).sum())
    items: list[Item] = [
        f"Of {counted(expected, 'prediction')}, {_number(failed)} failed and {_number(missing)} "
        f"{are(missing)} missing. Each of them scores 0, has no cost, and "
        "counts in every mean."
        if failed or missing
        else f"All {counted(expected, 'prediction')} succeeded."
    ]
    if failures.listed:
        items += [_counted(failures), _listed(failures)]
    return Section("Failures", tuple(items))


def _number(count: int) -> str:
    return f"{count:,}" if count else "none"


def _counted(failures: FailureCount) -> Table:
    return Table(
        "failures",
        "Failures by reason",
        (
            Column("reason", "reason"),
            Column("setting", "setting"),
            Column("predictions", "predictions", decimals=0),
        ),
        tuple(
            (text(reason), text(setting), number(count))
            for (reason, setting), count in sorted(failures.counts.items())
        ),
    )


def _listed(failures: FailureCount) -> Table:
    rows = []
    for each in failures.first():
        assert each.failure is not None
        message = each.failure.message
        if len(message) > _MAX_MESSAGE:
            message = f"{message[:_MAX_MESSAGE]}..."
        row = (each.question_id, each.setting, each.failure.reason, message)
        rows.append(tuple(text(value) for value in row))
    names = ("question", "setting", "reason", "message")
    return Table(
        "failures_listed",
        "First failures" if failures.counts.total() > len(rows) else "All failures",
        tuple(Column(name, name) for name in names),
        tuple(rows),
    )
