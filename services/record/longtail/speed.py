"""What the gate saves: time, retrievals and calls of the model, without it over behind it."""

from collections.abc import Sequence
from pathlib import Path

from record.longtail.measured import Gated, Pair, read_gated
from record.sections import Shown
from record.telling import tell_highest
from scaar.evaluator.report.cells import estimated, number, text
from scaar.evaluator.report.model import Cell, Column, Figure, Point, Series, Table
from scaar.evaluator.statistics.estimate import Estimate

PUBLISHED = {"single_round": "2.1 to 2.4", "ircot": "6.2 to 6.7"}
"""GECE's own speed-ups in time, of single retrieval and of IRCoT (Li et al., 2024)."""
_BILL = {
    "latency_ms": ("ms", 1),
    "retrievals": ("retrievals", 2),
    "llm_calls": ("calls", 2),
    "generated_tokens": ("tokens written", 1),
    "prompt_tokens": ("tokens read", 1),
}
_SPED = {"latency_ms": "time", "retrievals": "retrievals", "llm_calls": "calls of the model"}


def show_speed(folders: Sequence[Path]) -> Shown:
    """The speed-up of every policy beside GECE's own, and what both cost."""
    gated = read_gated(folders[0])
    by_time = {each.policy: gated.measured.times("latency_ms", each) for each in gated.pairs}
    by_retrievals = {each.policy: gated.measured.times("retrievals", each) for each in gated.pairs}
    told = (
        tell_highest("Speed-up by time", by_time),
        tell_highest("Speed-up by retrievals", by_retrievals),
    )
    return Shown((_speed_ups(gated), _figure(gated)), (_costs(gated),), told)


def _speed_ups(gated: Gated) -> Table:
    rows = tuple(
        (
            text(each.policy),
            *(estimated(gated.measured.times(column, each)) for column in _SPED),
            text(PUBLISHED.get(each.policy, "-")),
        )
        for each in gated.pairs
    )
    return Table(
        "speed_up",
        "How many times as much a policy takes without the gate",
        (
            Column("policy", "policy"),
            *(Column(column, f"by {what}", decimals=2) for column, what in _SPED.items()),
            Column("published", "GECE's own, by time"),
        ),
        rows,
        note=(
            "Means over all questions without the gate, divided by those behind it; above 1 is "
            "less work behind the gate. In brackets paired 95% intervals by entity."
        ),
    )


def _costs(gated: Gated) -> Table:
    columns = [Column("policy", "policy"), Column("gate", "gate")]
    columns += [Column(name, title, decimals) for name, (title, decimals) in _BILL.items()]
    rows = [_cost_row(gated, "no_retrieval", "-", gated.alone)]
    for each in gated.pairs:
        rows.append(_cost_row(gated, each.policy, "without", each.without))
        rows.append(_cost_row(gated, each.policy, "behind", each.behind))
    note = "Means a question. Questions are asked one at a time, nothing is kept between answers."
    return Table("costs", "What an answer costs", tuple(columns), tuple(rows), note)


def _cost_row(gated: Gated, policy: str, gate: str, at: int) -> tuple[Cell, ...]:
    means = (number(gated.measured.mean(name, at).value) for name in _BILL)
    return (text(policy), text(gate), *means)


def _figure(gated: Gated) -> Figure:
    series = tuple(
        Series(each.policy, points := _points(gated, each), tuple((p.x, p.y) for p in points), hue)
        for hue, each in enumerate(gated.pairs)
    )
    moved = [
        f"{each.name} from {each.points[0].y:.3f} at {each.points[0].x:.2f} to "
        f"{each.points[1].y:.3f} at {each.points[1].x:.2f}"
        for each in series
    ]
    return Figure(
        "gated",
        "F1 against retrievals, without the gate and behind it",
        "retrievals a question",
        "F1",
        series,
        alternative=(
            "Every policy by its mean F1 and its mean number of retrievals a question, a line "
            f"from without the gate to behind it: {'; '.join(moved)}."
        ),
        note="The end of a line with fewer retrievals is behind the gate.",
    )


def _points(gated: Gated, pair: Pair) -> tuple[Point, ...]:
    found = []
    for at, label in ((pair.without, "without the gate"), (pair.behind, "behind the gate")):
        x, y = (gated.measured.mean(column, at) for column in ("retrievals", "f1"))
        found.append(Point(x.value or 0.0, y.value or 0.0, _bounds(x), _bounds(y), label))
    return tuple(found)


def _bounds(found: Estimate) -> tuple[float, float] | None:
    return None if found.low is None or found.high is None else (found.low, found.high)
