"""A tuned policy beside every published one, at its own searches and at theirs."""

from record.ceiling import DEPLOYED
from record.pool import TUNED, Pool, System, cell_of
from scaar.core.errors import InvalidRequest
from scaar.evaluator.report.cells import estimated, measure_title, text
from scaar.evaluator.report.matched_budgets import NOT_REACHED
from scaar.evaluator.report.model import Column, Table
from scaar.evaluator.statistics.estimate import Estimate, difference
from scaar.evaluator.statistics.selection import RETRIEVALS

MARGIN = 0.015
"""A policy whose difference is above the negative of this, with its interval, is non-inferior."""


def comparison_table(pool: Pool) -> Table:
    """Return every published policy at its own setting, and the differences of the tuned one."""
    tuned = tuned_system(pool)
    title = measure_title(pool.measure)
    own = pool.of(tuned.settings[0], pool.measure)
    spent = pool.of(tuned.settings[0], RETRIEVALS)
    rows = [
        (
            text(tuned.name),
            cell_of(own),
            cell_of(spent),
            text(""),
            text(""),
        )
    ]
    for each in _published(pool):
        (at,) = each.settings
        rows.append(
            (
                text(each.name),
                cell_of(pool.of(at, pool.measure)),
                cell_of(pool.of(at, RETRIEVALS)),
                estimated(difference(own - pool.of(at, pool.measure))),
                estimated(_matched(pool, tuned, each), missing=NOT_REACHED),
            )
        )
    return Table(
        "comparison",
        f"{tuned.name} and the published policies",
        (
            Column("policy", "policy"),
            Column(pool.measure, title, decimals=3),
            Column(RETRIEVALS, "searches", decimals=2),
            Column("difference", f"{tuned.name} minus it", decimals=3, signed=True),
            Column("matched", "at its searches", decimals=3, signed=True),
        ),
        tuple(rows),
        note=(
            f"On {len(pool.table.questions)} questions. Published policies have the thetas that "
            f"the model recommends, from other worlds. The last column compares {tuned.name} at "
            "the searches of the published policy, interpolated between its neighbouring thetas. "
            "Intervals are paired, over entities, and not corrected."
        ),
    )


def comparison_sentences(pool: Pool) -> list[str]:
    """Return the verdicts on the tuned policy at its own setting and at matched searches."""
    tuned = tuned_system(pool)
    own = pool.of(tuned.settings[0], pool.measure)
    lines = []
    for where, differences in (
        (
            "at its own setting",
            {
                x.name: difference(own - pool.of(x.settings[0], pool.measure))
                for x in _published(pool)
            },
        ),
        (
            "at the searches of the published policy",
            {each.name: _matched(pool, tuned, each) for each in _published(pool)},
        ),
    ):
        known = {name: each.low for name, each in differences.items() if each.low is not None}
        inferior = [name for name, low in known.items() if low < -MARGIN]
        lowest = min(known, key=lambda name: known[name])
        verdict = (
            f"not shown to be non-inferior to {', '.join(inferior)}"
            if inferior
            else (f"better than or non-inferior to all {len(known)} that reach its range")
        )
        lines.append(
            f"{tuned.name} {where} is {verdict} (margin {MARGIN:g}); the lowest lower bound is "
            f"{known[lowest]:+.3f}, against {lowest}."
        )
    return lines


def tuned_system(pool: Pool) -> System:
    """Return the only tuned policy of a pool.

    Raises:
        InvalidRequest: there is none, or several.
    """
    settings = pool.table.settings
    found = [each for each in pool.systems if settings[each.settings[0]].policy.artefact]
    if len(found) != 1:
        raise InvalidRequest.of("results", "must have one tuned policy")
    return found[0]


def _published(pool: Pool) -> list[System]:
    return [each for each in pool.systems if each.kind == DEPLOYED]


def _matched(pool: Pool, tuned: System, other: System) -> Estimate:
    """Return the difference of the tuned settings at the searches of another policy."""
    places = [at for each in pool.systems if each.kind == TUNED for at in each.settings]
    (at,) = other.settings
    budget = pool.mean(at, RETRIEVALS)
    frontier = System(TUNED, tuned.name, tuple(places))
    found = pool.at(frontier, budget, pool.measure)
    return difference(found - pool.of(at, pool.measure))
