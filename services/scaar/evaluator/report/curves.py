"""Curves of theta, alpha and top_k: what each does to score and retrievals, all else equal."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from scaar.core.types import EffectivePolicy, Formulation, Trigger, When
from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import measure_title
from scaar.evaluator.report.model import Figure, Item, Point, Section, Series
from scaar.evaluator.statistics.choice import RETRIEVALS
from scaar.evaluator.statistics.estimate import estimate

_PROBABILITIES = (Trigger.FLARE, Trigger.EXP_RAW, Trigger.SURPRISAL, Trigger.ATTENTION)
"""The triggers whose theta is a probability; every other's is on a scale of its own."""
Value = Callable[[EffectivePolicy], float | None]
"""A value of a policy; None where it has none, or one of another scale."""
MOST_SERIES = 8
"""Curves of a figure; more are told apart by nobody."""


def draw_curves(analysis: Analysis) -> Section | None:
    """A figure of the score and one of the retrievals by each of them; None without any."""
    items: list[Item] = []
    scales = [_PROBABILITIES, *((each,) for each in Trigger if each not in _PROBABILITIES)]
    axes: list[tuple[str, Value]] = [("theta", partial(_theta, triggers)) for triggers in scales]
    for name, value in (*axes, ("alpha", _alpha), ("top_k", _top_k)):
        curves = _curves(analysis, name, value)
        if curves:
            names = [figure.name for figure in items if isinstance(figure, Figure)]
            for column in (analysis.measure, RETRIEVALS):
                figure = _figure(analysis, name, column, curves)
                items.append(replace(figure, name=_unlike(figure.name, names)))
    return Section("Thresholds, shares of words, passages", tuple(items)) if items else None


def _theta(triggers: Sequence[Trigger], policy: EffectivePolicy) -> float | None:
    return policy.theta if policy.trigger in triggers else None


def _unlike(name: str, names: Sequence[str]) -> str:
    """The name with the number of figures of that name so far, where there are any."""
    before = sum(each == name or each.startswith(f"{name}_") for each in names)
    return f"{name}_{before + 1}" if before else name


def _alpha(policy: EffectivePolicy) -> float | None:
    asks = policy.query.formulation is Formulation.PFQ and policy.when is When.UNCERTAIN_DRAFT
    return policy.query.alpha if asks else None


def _top_k(policy: EffectivePolicy) -> float | None:
    return float(policy.top_k) if policy.when is not When.NEVER else None


def _curves(analysis: Analysis, name: str, value: Value) -> dict[str, list[tuple[float, int]]]:
    """By what is equal in them: the settings that differ in one value only, in its order."""
    found: defaultdict[str, dict[float, int]] = defaultdict(dict)
    for contender in analysis.contenders:
        for position in contender.candidates:
            policy = analysis.policies[position]
            x = None if policy is None else value(policy)
            if policy is not None and x is not None:
                equal = f"{contender.name}{_rest(policy, name)}"
                found[equal].setdefault(x, position)
    curves = {equal: sorted(each.items()) for equal, each in found.items() if len(each) > 1}
    return {_shortened(equal, curves): each for equal, each in curves.items()}


def _best(analysis: Analysis, curves: dict[str, list[tuple[float, int]]]) -> list[str]:
    """The curves that are drawn: those with the best setting of all on the development half."""
    by_score = sorted(curves, key=lambda equal: -max(_scores(analysis, curves[equal])))
    return sorted(by_score[:MOST_SERIES])


def _rest(policy: EffectivePolicy, name: str) -> str:
    """The values beside the one that a curve is of."""
    query = policy.query
    values: dict[str, float | str | None] = {
        "theta": policy.theta if policy.trigger is not None else None,
        "theta_cap": policy.theta_cap,
        "alpha": _alpha(policy),
        "word_order": query.word_order.value,
        "last_n_tokens": query.last_n_tokens,
        "top_words": query.top_words,
        "top_k": policy.top_k,
    }
    del values[name]
    return "".join(
        f", {key} {value if isinstance(value, str) else f'{value:g}'}"
        for key, value in values.items()
        if value is not None
    )


def _shortened(equal: str, curves: dict[str, list[tuple[float, int]]]) -> str:
    """The name of a curve without what is the same in all of them."""
    parts = equal.split(", ")
    others = [each.split(", ") for each in curves]
    return ", ".join(
        (parts[0], *(part for part in parts[1:] if not all(part in each for each in others)))
    )


def _scores(analysis: Analysis, curve: list[tuple[float, int]]) -> list[float]:
    means = analysis.means.development.of(analysis.measure)
    return [float(means[0, position]) for _, position in curve]


def _figure(
    analysis: Analysis, name: str, column: str, curves: dict[str, list[tuple[float, int]]]
) -> Figure:
    title = "retrievals a question" if column == RETRIEVALS else measure_title(column)
    kept = _best(analysis, curves)
    series = tuple(_series(analysis, equal, column, curves[equal]) for equal in kept)
    if len({each.hue for each in series}) == 1:
        # Of a single policy they are told apart by colour too.
        series = tuple(replace(each, hue=None) for each in series)
    few = len(kept) < len(curves)
    told = [
        f"{each.name}: " + ", ".join(f"{point.y:.3g} at {point.x:g}" for point in each.points)
        for each in series
    ]
    return Figure(
        f"{name}_{column}",
        f"{title[0].upper()}{title[1:]} by {name}",
        "alpha, percent" if name == "alpha" else name,
        title,
        series,
        note=f"The best {len(kept)} of {len(curves)} curves." if few else "",
        alternative=f"{title} on the test half by {name}, with 95% intervals. {'; '.join(told)}.",
    )


def _series(analysis: Analysis, equal: str, column: str, curve: list[tuple[float, int]]) -> Series:
    points = []
    for x, position in curve:
        means, draws = (
            each.test.of(column)[:, position] for each in (analysis.means, analysis.draws)
        )
        y = estimate(means, draws)
        bounds = None if y.low is None or y.high is None else (y.low, y.high)
        points.append(Point(x, y.value or 0.0, y_range=bounds))
    first = curve[0][1]
    hue = next(at for at, each in enumerate(analysis.contenders) if first in each.candidates)
    return Series(equal, tuple(points), tuple((point.x, point.y) for point in points), hue)
