"""Curves of score and retrievals by theta, alpha and top_k, other settings being equal."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from scaar.core.queries import FORMULATIONS
from scaar.core.registry import Names
from scaar.core.triggers import TRIGGERS
from scaar.core.triggers.rule import PROBABILITY
from scaar.core.types import EffectivePolicy, Moment
from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import measure_title
from scaar.evaluator.report.model import Figure, Item, Point, Section, Series
from scaar.evaluator.statistics.estimate import estimate
from scaar.evaluator.statistics.selection import RETRIEVALS

_PROBABILITIES = Names(TRIGGERS, lambda rule: rule.theta is PROBABILITY)
"""The triggers whose theta is a probability; every other theta has its own scale."""
Value = Callable[[EffectivePolicy], float | None]
"""A value of a policy; None if the policy lacks it or has it on another scale."""
MAX_SERIES = 8
"""Maximum number of curves in a figure."""


def draw_curves(analysis: Analysis) -> Section | None:
    """Return a figure of scores and one of retrievals for each value; None without curves."""
    items: list[Item] = []
    others = (each for each in TRIGGERS if each not in _PROBABILITIES)
    axes: list[tuple[str, str, Value]] = [
        ("theta", "theta", partial(_theta, _PROBABILITIES)),
        *(("theta", f"theta of {each}", partial(_theta, (each,))) for each in others),
        ("alpha", "alpha", _alpha),
        ("top_k", "top_k", _top_k),
    ]
    for name, label, value in axes:
        curves = _curves(analysis, name, value)
        if curves:
            names = [figure.name for figure in items if isinstance(figure, Figure)]
            for column in (analysis.measure, RETRIEVALS):
                figure = _figure(analysis, name, label, column, curves)
                items.append(replace(figure, name=_unlike(figure.name, names)))
    return Section("Effect of theta, alpha and top_k", tuple(items)) if items else None


def _theta(triggers: Collection[str], policy: EffectivePolicy) -> float | None:
    return policy.theta if policy.trigger in triggers else None


def _unlike(name: str, names: Sequence[str]) -> str:
    """The name, numbered if figures of that name exist."""
    before = sum(each == name or each.startswith(f"{name}_") for each in names)
    return f"{name}_{before + 1}" if before else name


def _alpha(policy: EffectivePolicy) -> float | None:
    query = policy.query
    if query.formulation not in FORMULATIONS or Moment.UNCERTAIN_DRAFT not in policy.moments:
        return None
    return query.alpha if "alpha" in FORMULATIONS[query.formulation].settings else None


def _top_k(policy: EffectivePolicy) -> float | None:
    return float(policy.top_k) if policy.moments else None


def _curves(analysis: Analysis, name: str, value: Value) -> dict[str, list[tuple[float, int]]]:
    """The settings that differ in one value only, in its order, by their equal values."""
    found: defaultdict[str, dict[float, int]] = defaultdict(dict)
    for variant in analysis.variants:
        for position in variant.candidates:
            policy = analysis.policies[position]
            x = None if policy is None else value(policy)
            if policy is not None and x is not None:
                equal = f"{variant.name}{_rest(policy, name)}"
                found[equal].setdefault(x, position)
    curves = {equal: sorted(each.items()) for equal, each in found.items() if len(each) > 1}
    return {_shortened(equal, curves): each for equal, each in curves.items()}


def _best(analysis: Analysis, curves: dict[str, list[tuple[float, int]]]) -> list[str]:
    """The curves to draw: those with the best settings on the development split."""
    by_score = sorted(curves, key=lambda equal: -max(_scores(analysis, curves[equal])))
    return sorted(by_score[:MAX_SERIES])


def _rest(policy: EffectivePolicy, name: str) -> str:
    """The values of a policy other than the one that a curve varies."""
    query = policy.query
    values: dict[str, float | str | None] = {
        "theta": policy.theta if policy.trigger is not None else None,
        "theta_cap": policy.theta_cap,
        "alpha": _alpha(policy),
        "word_order": query.word_order.value,
        "last_n_tokens": query.last_n_tokens,
        "top_words": query.top_words,
        "mask_below": policy.mask_below,
        "top_k": policy.top_k,
    }
    del values[name]
    return "".join(
        f", {key} {value if isinstance(value, str) else f'{value:g}'}"
        for key, value in values.items()
        if value is not None
    )


def _shortened(equal: str, curves: dict[str, list[tuple[float, int]]]) -> str:
    """The name of a curve without the values that all curves share."""
    parts = equal.split(", ")
    others = [each.split(", ") for each in curves]
    return ", ".join(
        (parts[0], *(part for part in parts[1:] if not all(part in each for each in others)))
    )


def _scores(analysis: Analysis, curve: list[tuple[float, int]]) -> list[float]:
    means = analysis.means.development.of(analysis.measure)
    return [float(means[0, position]) for _, position in curve]


def _figure(
    analysis: Analysis,
    name: str,
    label: str,
    column: str,
    curves: dict[str, list[tuple[float, int]]],
) -> Figure:
    title = "retrievals per question" if column == RETRIEVALS else measure_title(column)
    kept = _best(analysis, curves)
    series = tuple(_series(analysis, equal, column, curves[equal]) for equal in kept)
    few = len(kept) < len(curves)
    described = [
        f"{each.name}: " + ", ".join(f"{point.y:.3g} at {point.x:g}" for point in each.points)
        for each in series
    ]
    return Figure(
        f"{name}_{column}",
        f"{title[0].upper()}{title[1:]} by {label}",
        "alpha, percent" if name == "alpha" else name,
        title,
        series,
        note=f"The best {len(kept)} of {len(curves)} curves." if few else "",
        alternative=(
            f"{title} on the test split by {label}, with 95% intervals. {'; '.join(described)}."
        ),
    )


def _series(analysis: Analysis, equal: str, column: str, curve: list[tuple[float, int]]) -> Series:
    points = []
    for x, position in curve:
        y = estimate(analysis.means.test.of(column)[:, position])
        points.append(Point(x, y.value or 0.0, y_range=y.bounds))
    first = curve[0][1]
    hue = next(at for at, each in enumerate(analysis.variants) if first in each.candidates)
    return Series(equal, tuple(points), tuple((point.x, point.y) for point in points), hue)
