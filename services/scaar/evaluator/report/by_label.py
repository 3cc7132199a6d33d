"""The policies at their chosen settings, by what the questions are labelled with."""

import re
from collections.abc import Sequence

from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import estimated, measure_title, number, text
from scaar.evaluator.report.model import Cell, Column, Item, Section, Table
from scaar.evaluator.report.summary import of_setting_chosen
from scaar.evaluator.statistics.choice import RETRIEVALS
from scaar.evaluator.statistics.estimate import estimate
from scaar.evaluator.statistics.groups import Breakdown, Group, breakdowns
from scaar.evaluator.statistics.means import HalvedMeans, means_of, resampled_means

_NOTE = "On the test half, under the settings chosen for all questions together."
_COUNTED = " In brackets the questions."


def break_down(analysis: Analysis) -> Section | None:
    """A table of scores and one of retrievals for every label; None where there are no labels."""
    items: list[Item] = []
    columns = (analysis.measure, RETRIEVALS)
    found = breakdowns(analysis.halved.test.only(columns))
    files = _file_names([each.label for each in found])
    for each, file in zip(found, files, strict=True):
        if not each.groups:
            items.append(
                f"The label {each.label} has {each.values} values, too many to break down by."
            )
            continue
        means = [_means(analysis, group) for group in each.groups]
        items += [_table(analysis, each, means, column, file) for column in columns]
    return Section("By kind of question", tuple(items)) if items else None


def _means(analysis: Analysis, group: Group) -> tuple[HalvedMeans, HalvedMeans]:
    """The means of a group and their draws; what is chosen on stays the whole development half."""
    options = analysis.options
    drawn = resampled_means(group.table, seed=options.seed, stream=1, resamples=options.resamples)
    return (
        HalvedMeans(analysis.means.development, means_of(group.table)),
        HalvedMeans(analysis.draws.development, drawn),
    )


def _table(
    analysis: Analysis,
    breakdown: Breakdown,
    means: list[tuple[HalvedMeans, HalvedMeans]],
    column: str,
    file: str,
) -> Table:
    title = "Retrievals" if column == RETRIEVALS else measure_title(column)
    decimals = 2 if column == RETRIEVALS else 3
    statistics = [of_setting_chosen(analysis, each, column) for each in analysis.contenders]
    cells = [
        [estimated(estimate(*(statistic(each) for each in halved))) for statistic in statistics]
        for halved in means
    ]
    counts = [len(group.table.questions) for group in breakdown.groups]
    names = [each.name for each in analysis.contenders]
    columns: tuple[Column, ...]
    rows: list[tuple[Cell, ...]]
    if len(names) > len(counts):
        # The longer list goes down the page.
        columns = (
            Column("policy", "policy"),
            *(
                Column(group.value, f"{group.value} ({count})", decimals=decimals)
                for group, count in zip(breakdown.groups, counts, strict=True)
            ),
        )
        rows = [
            (text(name), *own) for name, own in zip(names, zip(*cells, strict=True), strict=True)
        ]
    else:
        columns = (
            Column(breakdown.label, breakdown.label),
            Column("questions", "questions", decimals=0),
            *(Column(name, name, decimals=decimals) for name in names),
        )
        rows = [
            (text(group.value), number(count), *own)
            for group, count, own in zip(breakdown.groups, counts, cells, strict=True)
        ]
    return Table(
        f"by_{file}_{'retrievals' if column == RETRIEVALS else 'score'}",
        f"{title} by {breakdown.label}",
        columns,
        tuple(rows),
        note=_NOTE + (_COUNTED if len(names) > len(counts) else ""),
    )


def _file_names(labels: Sequence[str]) -> list[str]:
    """The labels as parts of files' names, whatever their data set called them."""
    names: list[str] = []
    for label in labels:
        name = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_") or "label"
        taken = names.count(name)
        names.append(f"{name}_{len(names)}" if taken else name)
    return names
