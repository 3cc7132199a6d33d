"""Policies at equal cost: the score at matched retrievals, and the areas."""

from functools import partial

from scaar.evaluator.report.analysis import Analysis, Statistic
from scaar.evaluator.report.areas import measure_areas
from scaar.evaluator.report.cells import estimated, measure_title, number, score_column, text
from scaar.evaluator.report.model import Column, Item, Section, Table
from scaar.evaluator.statistics.contenders import Contender
from scaar.evaluator.statistics.matched import matched
from scaar.evaluator.statistics.means import HalvedMeans
from scaar.evaluator.statistics.table import Floats

TARGETS = (0.5, 1.0, 1.5, 2.0)
"""Retrievals a question at which policies are compared."""
NOT_REACHED = "not reached"


def match_retrievals(analysis: Analysis) -> Section:
    """The scores at each number of retrievals, their differences, and the areas."""
    items: list[Item] = [_scores(analysis)]
    if len(analysis.contenders) > 1:
        items.append(_differences(analysis))
    items += measure_areas(analysis)
    return Section("At equal cost", tuple(items))


def at_retrievals(analysis: Analysis, target: float, contender: Contender) -> Statistic:
    """The score of a policy where so many retrievals a question are spent."""

    def statistic(halved: HalvedMeans) -> Floats:
        return matched(halved, contender.candidates, target, measure=analysis.measure)

    return statistic


def _scores(analysis: Analysis) -> Table:
    title = measure_title(analysis.measure)
    return Table(
        "matched_retrievals",
        f"{title} at matched retrievals",
        (
            Column("policy", "policy"),
            *(score_column(f"at_{target:g}", f"at {target:g} a question") for target in TARGETS),
        ),
        tuple(
            (
                text(each.name),
                *(
                    estimated(
                        analysis.estimate(at_retrievals(analysis, target, each)),
                        missing=NOT_REACHED,
                    )
                    for target in TARGETS
                ),
            )
            for each in analysis.contenders
        ),
        note=(
            "Read off the frontier of each policy: the questions are divided between the two "
            "neighbouring settings so that just so many retrievals are spent. What no mixture of a "
            "policy's settings spends is not reached. A value at the edge of what is reached, "
            "missed in more than one draw of twenty, has no interval."
        ),
    )


def _differences(analysis: Analysis) -> Table:
    rows = []
    for target in TARGETS:
        compared = analysis.compare(partial(at_retrievals, analysis, target))
        rows += [
            (
                text(f"{target:g}"),
                text(each.contender.name),
                estimated(each.difference),
                number(each.difference.p, missing="none"),
                number(each.holm, missing="none"),
            )
            for each in compared
            if each.difference.value is not None
        ]
    return Table(
        "matched_differences",
        f"Differences from {analysis.reference.name} at matched retrievals",
        (
            Column("retrievals", "retrievals a question"),
            Column("policy", "policy"),
            score_column("difference", measure_title(analysis.measure), signed=True),
            Column("p", "p", decimals=4),
            Column("p_holm", "p (Holm)", decimals=4),
        ),
        tuple(rows),
        note=(
            "Where both reach so many retrievals; paired 95% intervals, p corrected over the "
            "policies at each number of retrievals."
        ),
    )
