"""Groups of questions by their labels."""

import re
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

    The numbers in values are ordered as numbers: "51 to 200" precedes "201 to 800". A question
    without a value of a label is in no group of the label.
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
                for value in sorted(values[name], key=_order)
                if len(values[name]) <= maximum
            ),
        )
        for name in sorted(values)
    )


def _order(value: str) -> tuple[tuple[str, int], ...]:
    """Sort key of a value: its texts between numbers, and its numbers."""
    return tuple((text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", value))
