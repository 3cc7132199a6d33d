"""The sections of the worlds: policies at matched budgets of searches, and the oracles.

Every row is a system of :mod:`record.pool`. ``frontiers`` are policies at several thetas,
``deployed`` are policies at their own settings, ``tuned`` is the policy that ships with the model
in both ways, and ``oracles`` know the facts of the world.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from record.pool import TUNED, Pool, System, cell_of, read_pool
from record.sentences import highest_sentence
from scaar.core.errors import InvalidRequest
from scaar.evaluator.oracles import ORACLE, ORACLE_ERROR, oracle_parts
from scaar.evaluator.report.cells import (
    difference_cells,
    difference_columns,
    estimated,
    measure_title,
    number,
    text,
)
from scaar.evaluator.report.detection import detection_table, theta_of
from scaar.evaluator.report.matched_budgets import NOT_REACHED
from scaar.evaluator.report.model import Column, Figure, Point, Series, Table
from scaar.evaluator.scoring.budgeted import BENEFIT, BUDGETED
from scaar.evaluator.statistics.cost_units import SCORED_SENTENCES
from scaar.evaluator.statistics.estimate import difference, differences, estimate
from scaar.evaluator.statistics.selection import RETRIEVALS
from scaar.evaluator.statistics.table import Floats

BUDGETS = (0.75, 1.0, 1.25, 1.5, 2.0)
PRIMARY = 1.25
"""The budget of the primary comparison, in searches per question."""
FRONTIERS, DEPLOYED, ORACLES = "frontiers", "deployed", "oracles"
CEILING = f"{BUDGETED}:query={ORACLE}"
"""The oracle that the distance of a policy is a share of."""
NEVER = "no_retrieval"
COSTS = (
    ("llm_calls", "model calls"),
    ("prompt_tokens", "tokens read"),
    ("generated_tokens", "tokens written"),
    (SCORED_SENTENCES, "scored sentences"),
)


_read_pool = lru_cache(maxsize=2)(read_pool)


def pooled(folders: Iterable[Path]) -> Pool:
    """Return the pool of the evaluations in the folders; the last two are kept in memory."""
    return _read_pool(tuple(folders))


def matched_table(pool: Pool) -> Table:
    """Return the scores of policies and oracles at each budget of searches."""
    title = measure_title(pool.measure)

    def cell(system: System, budget: float) -> Floats:
        return pool.at(system, budget, pool.measure)

    return budgets_table(
        *(_lines(pool), BUDGETS, cell),
        name="worlds_matched",
        title=f"{title} at a matched budget of searches",
        note=(
            f"On all {len(pool.table.questions)} questions, interpolated between the neighbouring "
            "thetas of each policy in every bootstrap sample; nothing is chosen on these worlds. "
            "The budgeted oracle makes the retrievals with the largest gain first, in hindsight, "
            "and leaves the rest of a budget unused: a lower bound of the ceiling. Its query is "
            "the sentence, or with query=oracle the name of the passage that is needed."
        ),
    )


def distance_table(pool: Pool) -> Table | None:
    """Return the share of the distance to the ceiling that each policy covers at each budget."""
    ceiling, never = pool.system(ORACLES, CEILING), pool.system(FRONTIERS, NEVER)
    if ceiling is None or never is None:
        return None
    (at,) = never.settings
    start = pool.of(at, pool.measure)

    def cell(system: System, budget: float) -> Floats:
        whole = pool.at(ceiling, budget, pool.measure) - start
        return (pool.at(system, budget, pool.measure) - start) / whole

    return budgets_table(
        *([each for each in _lines(pool) if each is not ceiling], BUDGETS, cell),
        name="worlds_distance",
        title="Share of the distance to the ceiling",
        note=(
            f"(F - F of {NEVER}) / (F of the budgeted oracle with its own query at that budget - F "
            f"of {NEVER}); F is {measure_title(pool.measure)}."
        ),
    )


def points_table(pool: Pool) -> Table:
    """Return policies and oracles at their own settings, with what they cost."""
    systems = [each for each in pool.systems if _is_deployed(each) or _is_point(each)]
    never = pool.system(DEPLOYED, NEVER) or pool.system(FRONTIERS, NEVER)
    columns = (
        Column("policy", "policy"),
        Column(pool.measure, measure_title(pool.measure), decimals=3),
        Column("gain", f"gain over {NEVER}", decimals=3, signed=True),
        Column(RETRIEVALS, "searches", decimals=2),
        *(Column(name, title, decimals=1) for name, title in COSTS),
    )
    rows = []
    for each in systems:
        (at,) = each.settings
        own = pool.of(at, pool.measure)
        gain = difference(own - pool.of(never.settings[0], pool.measure)) if never else None
        rows.append(
            (
                text(each.name),
                cell_of(own),
                number(None) if gain is None else estimated(gain),
                cell_of(pool.of(at, RETRIEVALS)),
                *(number(pool.mean(at, name)) for name, _ in COSTS),
            )
        )
    return Table(
        "worlds_points",
        "Policies and oracles at their own settings",
        columns,
        tuple(rows),
        note=(
            "Thetas of published policies are those that the model recommends, from other worlds. "
            f"{ORACLE_ERROR} retrieves if and only if the draft is wrong, {BENEFIT} if and only if "
            "that raises the score of the question; query=oracle names the passage that is needed. "
            "Means per question."
        ),
    )


def worlds_costs(pool: Pool) -> Table:
    """Return what each policy costs at the primary budget, beside its searches."""
    return costs_table(pool, _lines(pool), name="worlds_costs")


def costs_table(pool: Pool, systems: Iterable[System], *, name: str) -> Table:
    """Return what each policy among the systems costs at the primary budget."""
    rows = []
    for system in systems:
        found = [estimate(pool.at(system, PRIMARY, column)).value for column, _ in COSTS]
        if found[0] is not None and system.kind != ORACLES:
            rows.append((text(system.name), *map(number, found)))
    columns = (Column("policy", "policy"), *(Column(*each, decimals=1) for each in COSTS))
    return Table(
        name,
        f"Costs at {PRIMARY:g} searches per question",
        columns,
        tuple(rows),
        note="Means per question, interpolated like the scores.",
    )


def differences_table(pool: Pool, reference: str = "scaar") -> Table | None:
    """Return the paired differences of policies from one of them, corrected by Holm."""
    first = pool.system(FRONTIERS, reference)
    if first is None:
        return None
    rows = []
    for budget in BUDGETS:
        own = pool.at(first, budget, pool.measure)
        others = [each for each in _lines(pool) if each is not first and each.kind != ORACLES]
        found = differences(pool.at(each, budget, pool.measure) - own for each in others)
        rows += [
            (text(other.name), number(budget), *difference_cells(each))
            for other, each in zip(others, found, strict=True)
            if each.value is not None
        ]
    columns = (
        Column("policy", "policy"),
        Column("budget", "budget", decimals=2),
        *difference_columns(measure_title(pool.measure)),
    )
    return Table(
        "worlds_differences",
        f"Differences from {reference} at a matched budget of searches",
        columns,
        tuple(rows),
        note="Paired 95% intervals; p-values are corrected over the policies at each budget.",
    )


@oracle_parts()
def detections_table(pool: Pool) -> Table:
    """Return how well each deployed policy detects wrong drafts, by popularity."""
    deployed = (each for each in pool.systems if _is_deployed(each))
    settings = ((each.name, pool.table.settings[each.settings[0]]) for each in deployed)
    judging = [
        (name, theta, pool.drafts.drafts(setting.label))
        for name, setting in settings
        if (theta := theta_of(setting.policy)) is not None
    ]
    return detection_table(judging, seed=0, which="at its own settings, on all questions")


def frontier_figure(pool: Pool) -> Figure:
    """Return the frontiers of policies and of the budgeted oracles."""
    title = measure_title(pool.measure)
    lines = _lines(pool)
    series = []
    for system in lines:
        places = sorted(system.settings, key=lambda at: pool.mean(at, RETRIEVALS))
        points = [(pool.mean(at, RETRIEVALS), pool.mean(at, pool.measure)) for at in places]
        series.append(Series(system.name, tuple(Point(*each) for each in points), tuple(points)))
    best = max(lines, key=lambda each: np.nan_to_num(pool.at(each, PRIMARY, pool.measure)[0]))
    return Figure(
        "worlds_frontiers",
        f"{title} by searches",
        "searches per question",
        title,
        tuple(series),
        alternative=(
            f"{title} against searches per question, of {len(series)} systems; {best.name} is "
            f"highest at {PRIMARY:g} searches."
        ),
    )


def matched_sentences(pool: Pool) -> list[str]:
    """Return the policy with the highest score at each of three budgets."""
    policies = {each.name: each for each in _lines(pool) if each.kind != ORACLES}
    lines = []
    for budget in (1.0, PRIMARY, 1.5):
        values = {name: pool.at(each, budget, pool.measure) for name, each in policies.items()}
        title = f"{measure_title(pool.measure)} of policies at a budget of {budget:g} searches"
        lines.append(highest_value(title, values))
    return lines


def highest_value(what: str, values: Mapping[str, Floats]) -> str:
    """Return the highest value and the paired differences of the others from that value."""
    return highest_sentence(
        what,
        {name: estimate(each) for name, each in values.items()},
        lambda name, best: difference(values[name] - values[best]),
    )


def reference_score(pool: Pool, reference: str = "scaar") -> float:
    """Return the score of a policy at the primary budget.

    Raises:
        InvalidRequest: the policy is not in the pool, or does not reach the budget.
    """
    system = pool.system(FRONTIERS, reference)
    value = estimate(pool.at(system, PRIMARY, pool.measure)).value if system else None
    if value is None:
        text = f"have no score of {reference} at {PRIMARY:g} searches per question"
        raise InvalidRequest.of("results", text)
    return value


def _lines(pool: Pool) -> list[System]:
    """Return the policies that retrieve, at every setting, and the budgeted oracles."""
    return [
        each
        for each in pool.systems
        if (is_frontier(each) and each.name != NEVER) or each.name.startswith(BUDGETED)
    ]


def is_frontier(system: System) -> bool:
    """Return whether a system is a policy at its thetas, which may be a single one."""
    return system.kind == FRONTIERS or (system.kind == TUNED and len(system.settings) > 1)


def _is_deployed(system: System) -> bool:
    return system.kind == DEPLOYED or (system.kind == TUNED and len(system.settings) == 1)


def _is_point(system: System) -> bool:
    return system.kind == ORACLES and not system.name.startswith(BUDGETED)


def budgets_table(
    systems: Iterable[System],
    budgets: Sequence[float],
    value: Callable[[System, float], Floats],
    *,
    name: str,
    title: str,
    note: str,
    what: str = "policy",
    prefix: str = "at ",
) -> Table:
    """Return a value of systems at each budget; a system that reaches none has no row."""
    columns = (
        Column(what, what),
        *(Column(f"at_{each:g}", f"{prefix}{each:g}", decimals=3) for each in budgets),
    )
    rows = (
        (text(each.name), *(cell_of(value(each, x), missing=NOT_REACHED) for x in budgets))
        for each in systems
    )
    reaching = tuple(row for row in rows if any(cell.value is not None for cell in row[1:]))
    return Table(name, title, columns, reaching, note=note)
