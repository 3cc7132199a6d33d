"""Groups of questions by their labels."""

from collections import defaultdict
from dataclasses import dataclass

from scaar.evaluator.statistics.table import ScoreTable

MAX_GROUPS = 60
"""The maximum number of values of a label with groups; above it, the label is an identifier."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The questions with one value of a label."""

    value: str
    table: ScoreTable


@dataclass(frozen=True, slots=True, eq=False)
class Breakdown:
    """The groups of a label in the order of its values; none if it has too many values."""

    label: str
    values: int
    groups: tuple[Group, ...]


def breakdowns(table: ScoreTable, *, maximum: int = MAX_GROUPS) -> tuple[Breakdown, ...]:
    """Return the groups of every label, in the order of the labels' names.

    A question without a value of a label is in no group of the label.
    """
    values: defaultdict[str, set[str]] = defaultdict(set)
    labels = [dict(question.labels) for question in table.questions]
    for named in labels:
        for name, value in named.items():
            values[name].add(value)
    return tuple(
        Breakdown(
            name,
            len(values[name]),
            tuple(
                Group(value, table.of([named.get(name) == value for named in labels]))
                for value in (sorted(values[name]) if len(values[name]) <= maximum else ())
            ),
        )
        for name in sorted(values)
    )
