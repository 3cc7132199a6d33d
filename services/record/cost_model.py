"""Tables of the cost model (:mod:`scaar.evaluator.statistics.cost_model`)."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from record.ceiling import is_frontier
from record.pool import Pool, System
from scaar.evaluator.report.cells import measure_title, number, text
from scaar.evaluator.report.model import Cell, Column, Table
from scaar.evaluator.statistics.cost_model import CostModel
from scaar.evaluator.statistics.cost_units import PARTS, UNITS
from scaar.evaluator.statistics.table import Floats, ScoreTable
from scaar.evaluator.statistics.variants import variant_name

SEARCH_MS = (5, 20, 50, 100, 250, 500, 1_000)
"""Times of a search at which policies are compared."""
SLOWDOWNS = (1, 4, 16, 64)
"""Factors of the model's times at which policies are compared."""


def coefficients_table(model: CostModel) -> Table:
    """Return the time of each unit."""
    explained = {name: model.explained[part] for part, names in PARTS.items() for name in names}
    rows = (
        (text(UNITS[name]), number(value), number(explained[name]))
        for name, value in model.coefficients.items()
    )
    return Table(
        "cost_coefficients",
        "Time of each unit of usage",
        (
            Column("unit", "unit"),
            Column("ms", "ms", decimals=3),
            Column("explained", "R²", decimals=3),
        ),
        tuple(rows),
        note=(
            "Fitted to the timed answers, generation, retrieval and scoring each by its own units; "
            "R² is that of the part. Fit them again for another deployment."
        ),
    )


def latency_table(table: ScoreTable) -> Table:
    """Return the median and the 95th percentile of the time of an answer for every policy."""
    latencies = table.column("latency_ms")
    rows = (
        (
            text(variant_name(setting.policy)),
            *(number(float(np.percentile(times, share))) for share in (50, 95)),
        )
        for setting, times in zip(table.settings, latencies, strict=True)
    )
    return Table(
        "cost_latency",
        "Time of an answer",
        (
            Column("policy", "policy"),
            Column("p50", "p50, ms", decimals=0),
            Column("p95", "p95, ms", decimals=0),
        ),
        tuple(rows),
        note="One question at a time, at the recommended settings, everything embedded.",
    )


def winners_table(pool: Pool, model: CostModel, score: float) -> Table:
    """Return the policy with the least time at a score, by time of a search and of the model."""
    systems = [each for each in pool.systems if is_frontier(each)]
    rows = [
        (
            text(f"{search_ms:,} ms"),
            *(
                _winner(pool, systems, model.times(search_ms=search_ms, slowdown=each), score)
                for each in SLOWDOWNS
            ),
        )
        for search_ms in SEARCH_MS
    ]
    return Table(
        "cost_winners",
        f"Least time at {measure_title(pool.measure)} {score:.3f}",
        (Column("search", "a search takes"), *(Column(f"x{n}", f"model x{n}") for n in SLOWDOWNS)),
        tuple(rows),
        note=(
            "The policy that reaches the score in the least time per question by the cost model, "
            "its time, and in brackets the second one with its time. A column multiplies the time "
            "of the measured model. A policy reaches a score between two "
            "of its settings by a mixture of both."
        ),
    )


def least_time(times: Floats, scores: Floats, score: float) -> float | None:
    """Return the least time of a mixture of two settings at which the score is reached."""
    found = [float(time) for time, own in zip(times, scores, strict=True) if own >= score]
    for low, high in itertools.permutations(range(len(times)), 2):
        if scores[low] < score <= scores[high]:
            part = (score - scores[low]) / (scores[high] - scores[low])
            found.append(float(times[low] + part * (times[high] - times[low])))
    return min(found, default=None)


def _winner(
    pool: Pool, systems: Sequence[System], times: Mapping[str, float], score: float
) -> Cell:
    found = []
    for each in systems:
        places = list(each.settings)
        taken = sum(
            (pool.means.of(name)[0, places] * ms for name, ms in times.items()),
            start=np.zeros(len(places)),
        )
        least = least_time(taken, pool.means.of(pool.measure)[0, places], score)
        if least is not None:
            found.append((least, each.name))
    best = [f"{name} {ms:,.0f} ms" for ms, name in sorted(found)[:2]]
    if not best:
        return Cell(None, note="not reached")
    return text(best[0] if len(best) == 1 else f"{best[0]} ({best[1]})")
