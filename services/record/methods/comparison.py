"""Tables of methods at matched budgets of searches and at matched times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from record.ceiling import COSTS, FRONTIERS, NEVER, ORACLES, budgets_table, highest_value
from record.methods.plan import SHARE, VECTORS
from record.pool import TUNED, Pool, Spent, System, cell_of
from scaar.core.errors import InvalidRequest
from scaar.core.gates import ROUTERS
from scaar.core.policies.single_round import SINGLE_ROUND
from scaar.evaluator.report.cells import estimated, measure_title, number, text
from scaar.evaluator.report.matched_budgets import NOT_REACHED
from scaar.evaluator.report.model import Column, Table
from scaar.evaluator.scoring.budgeted import BUDGETED
from scaar.evaluator.statistics.cost_model import CostModel
from scaar.evaluator.statistics.estimate import difference, estimate
from scaar.evaluator.statistics.means import Means
from scaar.evaluator.statistics.selection import RETRIEVALS
from scaar.evaluator.statistics.table import Floats

BUDGETS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
"""Budgets of policies, in searches per question."""
TIMES = (1.0, 1.5, 2.0, 3.0, 4.0)
"""Times per question, as multiples of the time of ``single_round``."""
ALWAYS = SINGLE_ROUND.name
_GATE = "gate="


@dataclass(frozen=True, slots=True)
class Deployment:
    """Times to compare methods at: of a search, and of the model as a multiple of the lab's."""

    search_ms: float
    slowdown: float

    def spent(self, model: CostModel) -> Spent:
        """Return the function that computes the time of every setting, in ms per question."""
        times = model.times(search_ms=self.search_ms, slowdown=self.slowdown)

        def spent(means: Means) -> Floats:
            return sum(
                (means.of(name) * ms for name, ms in times.items()),
                start=np.zeros_like(means.of(RETRIEVALS)),
            )

        return spent


DEPLOYMENTS = (Deployment(20, 16), Deployment(500, 16))
"""A deployment in which the model takes most of the time, and one in which searches do."""


def policies_of(pool: Pool) -> list[System]:
    """Return policies, routers and budgeted oracles, at all of their settings.

    A policy starts at ``no_retrieval``, so that a budget below its cheapest setting is met by a
    random choice of the questions that it answers.
    """
    found = []
    for each in pool.systems:
        name = each.name
        if each.kind == ORACLES:
            if name.startswith(BUDGETED):
                found.append(each)
            continue
        again = name == ALWAYS and each.kind not in {FRONTIERS, VECTORS}
        gate = _gate_of(each)
        if gate not in {"", *ROUTERS} or name == NEVER or again or _is_tuned_point(each):
            continue
        found.append(_from_never(pool, each, _policy_name(each)))
    return _merged(found)


def gates_of(pool: Pool) -> list[System]:
    """Return every gate in front of ``single_round``, which is the random gate, and the oracle.

    A gate starts at ``no_retrieval`` and ends at ``single_round``.
    """
    always = _always(pool)
    gates = [
        _from_never(pool, each, gate)
        for each in pool.systems
        if (gate := _gate_of(each)) and gate not in ROUTERS
    ]
    oracles = [each for each in policies_of(pool) if each.kind == ORACLES]
    ended = (System(x.kind, x.name, (*x.settings, *always.settings)) for x in _merged(gates))
    return [_from_never(pool, always, f"{ALWAYS} at random"), *ended, *oracles]


def searches_table(pool: Pool) -> Table:
    """Return the scores of policies at each budget of searches."""
    return budgets_table(
        policies_of(pool),
        BUDGETS,
        lambda system, budget: pool.at(system, budget, pool.measure),
        name="methods_searches",
        title=f"{measure_title(pool.measure)} at a matched budget of searches",
        note=_note(pool, "budget"),
        what="method",
    )


def gates_table(pool: Pool) -> Table:
    """Return the score of every gate, its difference from a random choice, and its costs."""
    chance, *others = gates_of(pool)

    def score(system: System) -> Floats:
        return pool.at(system, SHARE, pool.measure)

    rows = []
    for each in (chance, *others):
        system = each.kind == ORACLES or each is chance
        costs = (None if system else estimate(pool.at(each, SHARE, x)).value for x, _ in COSTS[:3])
        gain = None if each is chance else difference(score(each) - score(chance))
        rows.append(
            (
                text(each.name),
                cell_of(score(each), missing=NOT_REACHED),
                number(None) if gain is None else estimated(gain),
                *map(number, costs),
            )
        )
    return Table(
        "methods_gates",
        f"Gates in front of {ALWAYS}, at {SHARE:g} searches per question",
        (
            Column("gate", "gate"),
            Column(pool.measure, measure_title(pool.measure), decimals=3),
            Column("difference", "minus a random choice", decimals=3, signed=True),
            *(Column(name, title, decimals=1) for name, title in COSTS[:3]),
        ),
        tuple(rows),
        note=(
            "The first row retrieves for a random choice of as many questions. Thresholds were "
            f"fitted to a share of {SHARE:g} on a development world, or are the gate's own; where "
            "a gate chooses more or fewer questions here, its row is interpolated towards "
            f"{ALWAYS} or {NEVER}. Paired 95% intervals, not corrected. Costs are means per "
            "question and include what the gate lets the model write."
        ),
    )


def times_table(pool: Pool, model: CostModel, deployment: Deployment) -> Table:
    """Return the scores of policies at each multiple of the time of ``single_round``."""
    spent = deployment.spent(model)
    unit = _time_of_always(pool, spent)
    return budgets_table(
        policies_of(pool),
        TIMES,
        lambda system, share: pool.at(system, share * unit, pool.measure, spent=spent),
        name=f"methods_times_{deployment.search_ms:g}",
        title=(
            f"{measure_title(pool.measure)} at a matched time, a search taking "
            f"{deployment.search_ms:g} ms"
        ),
        note=(
            f"Times are multiples of the time of {ALWAYS}, {unit:,.0f} ms, by the cost model "
            f"below: a search takes {deployment.search_ms:g} ms and the "
            f"model {deployment.slowdown:g} times as long as the lab's. {_note(pool, 'time')}"
        ),
        what="method",
        prefix="x",
    )


def searches_sentences(pool: Pool) -> Iterator[str]:
    """Yield the policy with the highest score at three budgets, and the differences from it."""
    policies = [each for each in policies_of(pool) if each.kind != ORACLES]
    title = measure_title(pool.measure)
    for budget in (1.0, 1.25, 1.5):
        values = {each.name: pool.at(each, budget, pool.measure) for each in policies}
        yield highest_value(f"{title} at a budget of {budget:g} searches", values)


def times_sentences(pool: Pool, model: CostModel) -> Iterator[str]:
    """Yield the policy with the highest score at twice the time of ``single_round``."""
    policies = [each for each in policies_of(pool) if each.kind != ORACLES]
    title = measure_title(pool.measure)
    for each in DEPLOYMENTS:
        spent = each.spent(model)
        time = 2 * _time_of_always(pool, spent)
        values = {x.name: pool.at(x, time, pool.measure, spent=spent) for x in policies}
        what = f"{title} in twice the time of {ALWAYS} (search: {each.search_ms:g} ms)"
        yield highest_value(what, values)


def _time_of_always(pool: Pool, spent: Spent) -> float:
    """Return the time of an answer with one search before it, in ms."""
    (at,) = _always(pool).settings
    return float(spent(pool.means)[0, at])


def _always(pool: Pool) -> System:
    found = pool.system(FRONTIERS, ALWAYS)
    if found is None:
        raise InvalidRequest.of("results", f"must have {ALWAYS}")
    return found


def _note(pool: Pool, what: str) -> str:
    return (
        f"On {len(pool.table.questions)} questions, interpolated between the neighbouring settings "
        f"of each method in every bootstrap sample. A {what} below the cheapest setting is met by "
        f"a random choice of questions, the others being answered by {NEVER}. The budgeted oracle "
        "makes the retrievals with the largest gain first, in hindsight, with the sentence as its "
        "query, or with query=oracle the name of the passage that is needed. A value without an "
        "interval is reached in some bootstrap samples only."
    )


def _policy_name(system: System) -> str:
    if system.kind == TUNED:
        return system.name
    if gate := _gate_of(system):
        return gate
    name = system.name.partition(":")[0]
    return f"{name} (vectors)" if system.kind == VECTORS and name == ALWAYS else name


def _from_never(pool: Pool, system: System, name: str = "") -> System:
    never = pool.system(system.kind, NEVER) or pool.system(FRONTIERS, NEVER)
    start = never.settings if never else ()
    return System(system.kind, name or system.name, (*start, *system.settings))


def _merged(systems: Sequence[System]) -> list[System]:
    """Merge systems of one kind and name, which differ in values of settings."""
    found: dict[tuple[str, str], tuple[int, ...]] = {}
    for each in systems:
        key = (each.kind, each.name)
        found[key] = tuple(dict.fromkeys((*found.get(key, ()), *each.settings)))
    return [System(*key, settings) for key, settings in found.items()]


def _gate_of(system: System) -> str:
    return system.name.partition(_GATE)[2].partition(",")[0]


def _is_tuned_point(system: System) -> bool:
    return system.kind == TUNED and len(system.settings) == 1
