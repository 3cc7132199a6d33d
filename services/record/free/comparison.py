"""The tuned policy beside every published one at the searches that the tuned one makes."""

from record.ceiling import FRONTIERS, NEVER
from record.pool import Pool, System, cell_of
from record.tuning.comparison import tuned_system
from scaar.evaluator.report.cells import (
    difference_cells,
    difference_columns,
    measure_title,
    text,
)
from scaar.evaluator.report.matched_budgets import NOT_REACHED
from scaar.evaluator.report.model import Column, Table
from scaar.evaluator.statistics.estimate import difference, differences
from scaar.evaluator.statistics.selection import RETRIEVALS
from scaar.evaluator.statistics.table import Floats


def tuned_table(pool: Pool) -> Table:
    """Return the score of every published policy at the searches of the tuned one."""
    tuned = tuned_system(pool)
    (at,) = tuned.settings
    own, budget = pool.of(at, pool.measure), _searches(pool, tuned)
    published = _published(pool)
    found = differences(_gained(pool, tuned, each) for each in published)
    rows = [(text(tuned.name), cell_of(own), text(""), text(""), text(""))]
    for each, more in zip(published, found, strict=True):
        score = cell_of(pool.at(each, budget, pool.measure), missing=NOT_REACHED)
        rows.append((text(each.name), score, *difference_cells(more)))
    return Table(
        "tuned",
        f"{tuned.name} and the published policies at its searches",
        (
            Column("policy", "policy"),
            Column(pool.measure, measure_title(pool.measure), decimals=3),
            *difference_columns(f"{tuned.name} minus it"),
        ),
        tuple(rows),
        note=(
            f"On {len(pool.table.questions)} questions. {tuned.name} makes {budget:.2f} searches "
            "per question; published policies are interpolated at that number between their "
            "neighbouring thetas. Intervals are paired, over entities."
        ),
    )


def tuned_sentence(pool: Pool) -> str:
    """Return what the tuned policy gains over the best published policy at its searches."""
    tuned = tuned_system(pool)
    found = {each.name: difference(_gained(pool, tuned, each)) for each in _published(pool)}
    known = {name: each.value for name, each in found.items() if each.value is not None}
    nearest = min(known, key=lambda name: known[name])
    each = found[nearest]
    return (
        f"{tuned.name} makes {_searches(pool, tuned):.2f} searches per question; the best "
        f"published policy at that number is {nearest}, from which it differs by "
        f"{each.value:+.3f} [{each.low:+.3f}, {each.high:+.3f}] "
        f"{measure_title(pool.measure)}."
    )


def _published(pool: Pool) -> list[System]:
    return [each for each in pool.systems if each.kind == FRONTIERS and each.name != NEVER]


def _searches(pool: Pool, tuned: System) -> float:
    return pool.mean(tuned.settings[0], RETRIEVALS)


def _gained(pool: Pool, tuned: System, other: System) -> Floats:
    found = pool.at(other, _searches(pool, tuned), pool.measure)
    return pool.of(tuned.settings[0], pool.measure) - found
