"""Tables of the reports of ``scaar tune``: the factorial of candidates, and the learning curve."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from record.tuning.plan import BUDGET
from scaar.core.types import ExcludeSeen
from scaar.evaluator.report.cells import estimated, mark_highest, measure_title, number, text
from scaar.evaluator.report.model import Column, Table
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.store.files import read_whole

MASK_BELOW = 0.8
"""The mask of the candidates that the factorial shows."""
Report = Mapping[str, Any]


def read_report(path: Path) -> Report:
    """Return the report of a tuning."""
    found: Report = json.loads(read_whole(path))
    return found


def factorial_tables(report: Report) -> tuple[Table, ...]:
    """Return the quality of every trigger with every query and exclusion, by ``top_k``."""
    found = [each for each in report["candidates"] if each["mask_below"] == MASK_BELOW]
    return tuple(
        _factorial(report, [each for each in found if each["top_k"] == top_k], top_k)
        for top_k in dict.fromkeys(each["top_k"] for each in found)
    )


def learning_table(report: Report) -> Table:
    """Return what tunings on each number of questions reach on other questions."""
    return Table(
        "learning_curve",
        "Tunings on fewer questions",
        (
            Column("questions", "questions"),
            Column("quality", measure_title(report["measure"]), decimals=3),
            Column("searches", "searches", decimals=2),
            Column("chosen", "chosen triggers"),
        ),
        (
            *(_point(str(each["questions"]), each) for each in report["learning_curve"]),
            (
                text(f"all others of {report['questions']}"),
                estimated(_estimate(report["outer"])),
                estimated(_estimate(report["outer_searches"])),
                text(""),
            ),
        ),
        note=(
            "For each fold of the questions, the whole procedure is applied to a sample of the "
            "other folds, and the policy that it chooses is measured on the fold. Intervals are "
            "over entities and do not include the draw of the samples."
        ),
    )


def _factorial(report: Report, found: Sequence[Report], top_k: int) -> Table:
    title = measure_title(report["measure"])
    ways = list(dict.fromkeys(map(_way, found)))
    rows = []
    for trigger in dict.fromkeys(map(_trigger, found)):
        own = {_way(each): each for each in found if _trigger(each) == trigger}
        quality = [_estimate(own[way]["quality"]) for way in ways]
        searches = [_estimate(own[way]["searches"]).value for way in ways]
        rows.append((text(trigger), *mark_highest([estimated(each) for each in quality])))
        rows.append((text("searches"), *(number(each) for each in searches)))
    return Table(
        f"factorial_{top_k}",
        f"{title} of every trigger, query and exclusion, top_k {top_k}",
        (
            Column("trigger", "trigger"),
            *(Column(f"{q}_{e}", _title(q, e), decimals=3) for q, e in ways),
        ),
        tuple(rows),
        note=(
            f"At the threshold whose searches are nearest to {BUDGET:g} per question; thresholds "
            "and the parameters of learned triggers are fitted to the other folds. mask_below is "
            f'{MASK_BELOW:g}. "Excluding" leaves out passages that the answer has already read. '
            "The best of each row is marked; where intervals overlap, that may be chance."
        ),
    )


def spread_sentences(report: Report) -> Iterator[str]:
    """Yield by how much the mean quality differs between triggers, queries, and exclusions."""
    found = [each for each in report["candidates"] if each["mask_below"] == MASK_BELOW]
    parts = {"trigger": _trigger, "query": _query, "exclusion": _exclusion, "top_k": _top_k}
    for what, part_of in parts.items():
        sums: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        for each in found:
            sums[part_of(each)] += each["quality"]["value"]
            counts[part_of(each)] += 1
        means = {name: sums[name] / counts[name] for name in sums}
        ordered = sorted(means, key=lambda name: -means[name])
        values = ", ".join(f"{name} {means[name]:.3f}" for name in ordered)
        yield f"Mean by {what}, over everything else: {values}."


def _point(questions: str, point: Report) -> tuple[Any, ...]:
    chosen: Counter[str] = Counter(point["chosen"])
    return (
        text(questions),
        estimated(_estimate(point["quality"])),
        estimated(_estimate(point["searches"])),
        text(", ".join(f"{name} {count}" for name, count in chosen.most_common())),
    )


def _estimate(found: Mapping[str, float | None]) -> Estimate:
    return Estimate(**found)


def _trigger(candidate: Report) -> str:
    return ":".join(filter(None, (candidate["trigger"], candidate["label"])))


def _query(candidate: Report) -> str:
    return str(candidate["query"])


def _exclusion(candidate: Report) -> str:
    return str(candidate["exclude_seen"])


def _top_k(candidate: Report) -> str:
    return str(candidate["top_k"])


def _way(candidate: Report) -> tuple[str, str]:
    return _query(candidate), _exclusion(candidate)


def _title(query: str, excluded: str) -> str:
    return query if excluded == ExcludeSeen.NONE else f"{query}, excluding"
