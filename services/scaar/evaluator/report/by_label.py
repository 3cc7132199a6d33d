"""The policies at their chosen settings, by the labels of the questions."""

from dataclasses import replace

from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import estimated, mark_highest, measure_title, number, text
from scaar.evaluator.report.listings import group_listing, labels_of
from scaar.evaluator.report.model import Cell, Column, Item, Section, Table
from scaar.evaluator.report.summary import of_setting_chosen
from scaar.evaluator.statistics.estimate import estimate
from scaar.evaluator.statistics.groups import Breakdown, Group
from scaar.evaluator.statistics.means import SplitMeans, resampled_means
from scaar.evaluator.statistics.selection import RETRIEVALS

_NOTE = "On the test split, at the settings chosen for all questions together."
_COUNTED = " The number of questions is in brackets."


def break_down(analysis: Analysis) -> Section | None:
    """Return a table of scores and one of retrievals for every label; None without labels."""
    items: list[Item] = []
    ignored = []
    for each, file in labels_of(analysis):
        if not each.groups:
            ignored.append(f"{each.label} ({each.values} values)")
            continue
        means = [_means(analysis, group) for group in each.groups]
        items += [
            _table(analysis, each, means, column, file) for column in (analysis.measure, RETRIEVALS)
        ]
    if items and ignored:
        items.append(f"Labels with too many values for a table: {', '.join(ignored)}.")
    return Section("By kind of question", tuple(items)) if items else None


def _means(analysis: Analysis, group: Group) -> SplitMeans:
    """The means of a group; settings are chosen on all questions."""
    options = analysis.options
    own = resampled_means(group.table, seed=options.seed, stream=1, resamples=options.resamples)
    return SplitMeans(analysis.means.development, own)


def _table(
    analysis: Analysis,
    breakdown: Breakdown,
    means: list[SplitMeans],
    column: str,
    file: str,
) -> Table:
    title = "Retrievals" if column == RETRIEVALS else measure_title(column)
    decimals = 2 if column == RETRIEVALS else 3
    statistics = [of_setting_chosen(analysis, each, column) for each in analysis.variants]
    cells = [
        [
            replace(estimated(estimate(statistic(split))), link=group_listing(file, at))
            for statistic in statistics
        ]
        for at, split in enumerate(means)
    ]
    if column != RETRIEVALS:
        cells = [mark_highest(each) for each in cells]
    counts = [len(group.table.questions) for group in breakdown.groups]
    names = [each.name for each in analysis.variants]
    columns: tuple[Column, ...]
    rows: list[tuple[Cell, ...]]
    if len(names) > len(counts):
        # The longer list makes the rows.
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
