"""Which trigger wins how often over several evaluations (SCAAR, Figure 2)."""

from scaar.evaluator.joining.joined import Joined
from scaar.evaluator.joining.policies import label_columns, labels_of
from scaar.evaluator.report.cells import number
from scaar.evaluator.report.model import Cell, Column, Section, Table
from scaar.evaluator.report.wins import contests_of, count_wins
from scaar.evaluator.statistics.wins import Contest, win_counts


def count_all_wins(joined: Joined) -> Section | None:
    """The wins over all evaluations and in each; None where triggers never meet."""
    held = [contests_of(each) for each in joined.analyses]
    outcomes = [contest for contests, _ in held for contest in contests]
    if not outcomes:
        return None
    axes = ", ".join(each.name for each in joined.axes if each.differs)
    items = count_wins(outcomes, f"for each {axes}, {held[0][1]}")
    return Section("Triggers against each other", (*items, _by_evaluation(joined, held)))


def _by_evaluation(joined: Joined, held: list[tuple[list[Contest], str]]) -> Table:
    won = [win_counts(contests) for contests, _ in held]
    triggers = tuple(dict.fromkeys(name for each in won for name in each))
    rows = tuple(
        (
            *labels_of(joined.axes, at),
            number(len(held[at][0])),
            *(
                number(each[name]) if name in each else Cell(None, note="not run")
                for name in triggers
            ),
        )
        for at, each in enumerate(won)
    )
    return Table(
        "wins_by_evaluation",
        "Contests won in each evaluation",
        (
            *label_columns(joined.axes),
            Column("contests", "contests", decimals=0),
            *(Column(name, name, decimals=1) for name in triggers),
        ),
        rows,
    )
