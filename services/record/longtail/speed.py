"""The work that the gate saves: time, retrievals and model calls without it and with it."""

from collections.abc import Sequence
from pathlib import Path

from record.longtail.gated_evaluation import GatedEvaluation, Pair, read_gated
from record.sections import PartContent
from record.sentences import highest_sentence
from scaar.evaluator.report.cells import estimated, number, text
from scaar.evaluator.report.model import Column, Figure, Point, Series, Table

PUBLISHED = {"single_round": "2.1 to 2.4", "ircot": "6.2 to 6.7"}
"""GECE's own speed-ups in time, of single retrieval and of IRCoT (Li et al., 2024)."""
_USAGE = {
    "latency_ms": ("ms", 1),
    "retrievals": ("retrievals", 2),
    "llm_calls": ("calls", 2),
    "generated_tokens": ("generated tokens", 1),
    "prompt_tokens": ("prompt tokens", 1),
}
_SPED = {"latency_ms": "time", "retrievals": "retrievals", "llm_calls": "model calls"}


def show_speed(folders: Sequence[Path]) -> PartContent:
    """Return the speed-up of every policy beside GECE's own, and the cost of an answer."""
    gated = read_gated(folders[0])
    sentences = (
        _highest(gated, "Speed-up by time", "latency_ms"),
        _highest(gated, "Speed-up by retrievals", "retrievals"),
    )
    return PartContent((_speed_ups(gated), _figure(gated)), (_costs(gated),), sentences)


def _highest(gated: GatedEvaluation, what: str, column: str) -> str:
    pairs = {each.policy: each for each in gated.pairs}
    measurements = gated.measurements
    return highest_sentence(
        what,
        {name: measurements.ratio(column, each) for name, each in pairs.items()},
        lambda name, best: measurements.ratio_difference(column, pairs[name], pairs[best]),
    )


def _speed_ups(gated: GatedEvaluation) -> Table:
    rows = tuple(
        (
            text(each.policy),
            *(estimated(gated.measurements.ratio(column, each)) for column in _SPED),
            text(PUBLISHED.get(each.policy, "-")),
        )
        for each in gated.pairs
    )
    return Table(
        "speed_up",
        "Work without the gate, divided by work with the gate",
        (
            Column("policy", "policy"),
            *(Column(column, f"by {what}", decimals=2) for column, what in _SPED.items()),
            Column("published", "GECE's own, by time"),
        ),
        rows,
        note=(
            "Means over all questions without the gate, divided by those with the gate; a value "
            "above 1 is work saved. In brackets paired 95% intervals by entity."
        ),
    )


def _costs(gated: GatedEvaluation) -> Table:
    columns = [Column("policy", "policy"), Column("gate", "gate")]
    columns += [Column(name, title, decimals) for name, (title, decimals) in _USAGE.items()]
    rows = gated.rows(
        lambda at: (number(gated.measurements.mean(name, at).value) for name in _USAGE)
    )
    note = "Means per question. Questions run one at a time, without caches between answers."
    return Table("costs", "What an answer costs", tuple(columns), rows, note)


def _figure(gated: GatedEvaluation) -> Figure:
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
        "F1 against retrievals, without the gate and with the gate",
        "retrievals per question",
        "F1",
        series,
        alternative=(
            "Every policy by its mean F1 and its mean number of retrievals per question, with a "
            f"line from its value without the gate to that with the gate: {'; '.join(moved)}."
        ),
        note="The end of a line with fewer retrievals is the policy with the gate.",
    )


def _points(gated: GatedEvaluation, pair: Pair) -> tuple[Point, ...]:
    found = []
    for at, label in ((pair.without, "without the gate"), (pair.behind, "with the gate")):
        x, y = (gated.measurements.mean(column, at) for column in ("retrievals", "f1"))
        found.append(Point(x.value or 0.0, y.value or 0.0, x.bounds, y.bounds, label))
    return tuple(found)
