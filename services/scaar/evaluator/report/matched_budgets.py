"""Policies at matched cost: the score at a matched retrieval budget, and the areas."""

from functools import partial

from scaar.evaluator.report.analysis import Analysis, Statistic
from scaar.evaluator.report.areas import measure_areas
from scaar.evaluator.report.cells import (
    difference_cells,
    difference_columns,
    estimated,
    mark_best,
    measure_title,
    number,
    score_column,
    text,
)
from scaar.evaluator.report.model import Cell, Column, Item, Section, Table
from scaar.evaluator.statistics.matched import matched
from scaar.evaluator.statistics.means import SplitMeans
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.statistics.variants import PolicyVariant

TARGETS = (0.5, 1.0, 1.5, 2.0)
"""Retrieval budgets, in searches per question, at which policies are compared."""
NOT_REACHED = "not reached"


def match_retrievals(analysis: Analysis) -> Section:
    """Return the scores at each retrieval budget, their differences, and the areas."""
    items: list[Item] = [_scores(analysis)]
    if len(analysis.variants) > 1:
        items += _differences(analysis)
    items += measure_areas(analysis)
    return Section("Comparison at matched cost", tuple(items))


def at_retrievals(analysis: Analysis, target: float, variant: PolicyVariant) -> Statistic:
    """Return the score of a policy at a budget of ``target`` searches per question."""

    def statistic(splits: SplitMeans) -> Floats:
        return matched(splits, variant.candidates, target, measure=analysis.measure)

    return statistic


def _scores(analysis: Analysis) -> Item:
    title = measure_title(analysis.measure)
    cells = [
        [
            estimated(analysis.estimate(at_retrievals(analysis, target, each)), missing=NOT_REACHED)
            for target in TARGETS
        ]
        for each in analysis.variants
    ]
    reached = [any(own[at].value is not None for own in cells) for at in range(len(TARGETS))]
    budgets = f"{', '.join(f'{target:g}' for target in TARGETS[:-1])} or {TARGETS[-1]:g}"
    if not any(reached):
        return f"No policy reaches a budget of {budgets} searches per question."
    rows: list[tuple[Cell, ...]] = []
    absent = []
    for variant, own in zip(analysis.variants, cells, strict=True):
        if all(each.value is None for each in own):
            absent.append(variant.name)
        else:
            shown = (each for each, keep in zip(own, reached, strict=True) if keep)
            rows.append((text(variant.name), *shown))
    targets = [target for target, keep in zip(TARGETS, reached, strict=True) if keep]
    columns = (
        Column("policy", "policy"),
        *(
            score_column(f"at_{each:g}", f"at {each:g}", pinned=each == targets[0])
            for each in targets
        ),
    )
    return Table(
        "matched_retrievals",
        f"{title} at a matched retrieval budget, in searches per question",
        columns,
        mark_best(columns, rows, [column.name for column in columns[1:]]),
        note=(
            "Read off the frontier of each policy: the questions are divided between the two "
            "neighbouring settings so that their mean number of searches is the budget. A budget "
            "is not reached if no mixture of the policy's settings has that mean. A value near the "
            "end of the frontier, undefined in more than 5% of the bootstrap samples, has no "
            "interval."
            + (f" Not listed, since they reach no budget: {', '.join(absent)}." if absent else "")
        ),
    )


def _differences(analysis: Analysis) -> list[Item]:
    rows = []
    for target in TARGETS:
        compared = analysis.compare(partial(at_retrievals, analysis, target))
        rows += [
            (
                text(each.variant.name),
                number(target),
                *difference_cells(each.difference, missing="none"),
            )
            for each in compared
            if each.difference.value is not None
        ]
    if not rows:
        return []
    table = Table(
        "matched_differences",
        f"Differences from {analysis.reference.name} at a matched retrieval budget",
        (
            Column("policy", "policy"),
            Column("retrievals", "budget", decimals=1),
            *difference_columns(measure_title(analysis.measure)),
        ),
        tuple(rows),
        note=(
            "For budgets, in searches per question, that both policies reach. Intervals are "
            "paired 95% intervals; p-values are corrected over the policies at each budget."
        ),
    )
    return [table]
