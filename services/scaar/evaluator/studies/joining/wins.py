"""How often each trigger wins over several evaluations (SCAAR, Figure 2)."""

from scaar.evaluator.report.cells import number
from scaar.evaluator.report.model import Cell, Column, Section, Table
from scaar.evaluator.report.wins import contests_of, count_wins
from scaar.evaluator.statistics.wins import Contest, win_counts
from scaar.evaluator.studies.joining.evaluations import Joined
from scaar.evaluator.studies.joining.policies import label_columns, labels_of


def count_all_wins(joined: Joined) -> Section | None:
    """Return the wins over all evaluations and in each; None without a contest."""
    entered = [contests_of(each) for each in joined.analyses]
    outcomes = [contest for contests, _ in entered for contest in contests]
    if not outcomes:
        return None
    axes = ", ".join(each.name for each in joined.axes if each.differs)
    items = count_wins(outcomes, f"for each {axes}, {entered[0][1]}")
    return Section("Contests between triggers", (*items, _by_evaluation(joined, entered)))


def _by_evaluation(joined: Joined, entered: list[tuple[list[Contest], str]]) -> Table:
    won = [win_counts(contests) for contests, _ in entered]
    triggers = tuple(dict.fromkeys(name for each in won for name in each))
    rows = tuple(
        (
            *labels_of(joined.axes, at),
            number(len(entered[at][0])),
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
