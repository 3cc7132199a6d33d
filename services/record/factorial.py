"""The factorial of triggers, queries and exclusion, at a matched budget of searches."""

from collections.abc import Iterator

from record.ceiling import BUDGETS, PRIMARY
from record.pool import Pool, System, cell_of
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import combination_of
from scaar.core.types import ExcludeSeen
from scaar.evaluator.report.cells import estimated, mark_highest, measure_title, number, text
from scaar.evaluator.report.matched_budgets import NOT_REACHED
from scaar.evaluator.report.model import Column, Table
from scaar.evaluator.statistics.estimate import difference

Cell = tuple[str, str, ExcludeSeen]
"""The trigger, the query, and which passages are excluded."""


def factorial_table(pool: Pool) -> Table:
    """Return the score of every combination at the primary budget."""
    cells = dict(_cells(pool))
    triggers = list(dict.fromkeys(trigger for trigger, _, _ in cells))
    columns = list(dict.fromkeys((query, excluded) for _, query, excluded in cells))
    rows = []
    for trigger in triggers:
        systems = (cells.get((trigger, *column)) for column in columns)
        found = [
            number(None, missing="not run")
            if each is None
            else cell_of(pool.at(each, PRIMARY, pool.measure), missing=NOT_REACHED)
            for each in systems
        ]
        rows.append((text(trigger), *mark_highest(found)))
    title = measure_title(pool.measure)
    return Table(
        "factorial",
        f"{title} of every trigger, query and exclusion at {PRIMARY:g} searches per question",
        (
            Column("trigger", "trigger"),
            *(Column(f"{q}_{e}", _title(q, e), decimals=3) for q, e in columns),
        ),
        tuple(rows),
        note=(
            '"Excluding" leaves out passages that the answer has already read. The best of each '
            "row is marked; where intervals overlap, that may be chance."
        ),
    )


def effects_table(pool: Pool) -> Table:
    """Return what a change of query or exclusion adds for every trigger, at each budget."""
    cells = dict(_cells(pool))
    rows = []
    for (trigger, query, excluded), system in cells.items():
        for other in _neighbours(cells, (trigger, query, excluded)):
            found = [
                difference(
                    pool.at(cells[other], budget, pool.measure)
                    - pool.at(system, budget, pool.measure)
                )
                for budget in BUDGETS
            ]
            rows.append(
                (
                    text(trigger),
                    text(_title(query, excluded)),
                    text(_title(*other[1:])),
                    *(estimated(each, missing=NOT_REACHED) for each in found),
                )
            )
    return Table(
        "factorial_effects",
        "Effects of queries and of exclusion at a matched budget of searches",
        (
            Column("trigger", "trigger"),
            Column("before", "from"),
            Column("after", "to"),
            *(Column(f"at_{each:g}", f"at {each:g}", 3, signed=True) for each in BUDGETS),
        ),
        tuple(rows),
        note="Paired differences with 95% intervals.",
    )


def _cells(pool: Pool) -> Iterator[tuple[Cell, System]]:
    for system in pool.systems:
        policy = pool.table.settings[system.settings[0]].policy
        given = combination_of(PRESETS[policy.name], policy.overrides)
        excluded = ExcludeSeen(policy.overrides.exclude_seen or ExcludeSeen.NONE)
        yield (given.trigger or policy.name, given.query, excluded), system


def _neighbours(cells: dict[Cell, System], cell: Cell) -> Iterator[Cell]:
    """Yield the later cells of the trigger that differ in the query or in the exclusion alone."""
    every = list(cells)
    for other in every[every.index(cell) + 1 :]:
        if other[0] == cell[0] and (other[1] == cell[1]) != (other[2] == cell[2]):
            yield other


def _title(query: str, excluded: ExcludeSeen) -> str:
    return query if excluded is ExcludeSeen.NONE else f"{query}, excluding"
