"""How often each trigger wins at equal settings (SCAAR, Figure 2)."""

from collections.abc import Sequence

from scaar.core.plurals import counted
from scaar.core.types import EffectivePolicy
from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import measure_title, number, text
from scaar.evaluator.report.model import Bars, Column, Item, Table
from scaar.evaluator.statistics.groups import breakdowns
from scaar.evaluator.statistics.means import means_of
from scaar.evaluator.statistics.wins import Contest, contests, win_counts

_KINDS = ("kind", "type")
"""The labels of the kind of a question; the first one that the questions have is used."""


def own_policies(analysis: Analysis) -> list[EffectivePolicy | None]:
    """Return the policy of every setting; None for a scorer control, which is no own trigger."""
    settings = analysis.table.settings
    return [
        None if setting.scorer else policy
        for setting, policy in zip(settings, analysis.policies, strict=True)
    ]


def contests_of(analysis: Analysis) -> tuple[list[Contest], str]:
    """Return the contests of an evaluation on its test split, and their description for a note."""
    placed = analysis.evaluation.grid is not None
    held = contests(own_policies(analysis), placed=placed)
    tested = analysis.splits.test.only((analysis.measure,))
    kinds = {each.label: each for each in breakdowns(tested) if each.groups}
    label = next((name for name in _KINDS if name in kinds), None)
    tables = [group.table for group in kinds[label].groups] if label else [tested]
    outcomes: list[Contest] = []
    for table in tables:
        scores = means_of(table).of(analysis.measure)[0]
        outcomes += [{name: float(scores[at]) for name, at in each.items()} for each in held]
    among = f" and {label} of question" if label else ""
    equal = (
        "at equal settings, where thetas at the same quantile count as equal"
        if placed
        else "at equal settings"
    )
    return outcomes, (
        f"one for each query, theta{among}, {equal}; the highest "
        f"{measure_title(analysis.measure)} on the test split wins, and ties share the win."
    )


def count_wins(outcomes: Sequence[Contest], description: str) -> list[Item]:
    """Return the table and the figure of the contests won; empty without a contest."""
    if not outcomes:
        return []
    won = win_counts(outcomes)
    title = "Contests won by each trigger"
    note = f"{counted(len(outcomes), 'contest')}: {description}"
    columns = (
        Column("trigger", "trigger"),
        Column("won", "contests won", decimals=1),
        Column("held", "contests entered", decimals=0),
    )
    part = {name: sum(name in each for each in outcomes) for name in won}
    rows = tuple((text(name), number(each), number(part[name])) for name, each in won.items())
    spoken = ", ".join(f"{name} {each:.4g}" for name, each in won.items())
    return [
        Table("wins", title, columns, rows, note=note),
        Bars("wins", title, "contests won", tuple(won.items()), f"{note} Won: {spoken}."),
    ]
