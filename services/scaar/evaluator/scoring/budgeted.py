"""The budgeted oracle: the best set of retrievals at a budget, from answers with planned ones.

Every question is answered with each set of retrievals at its first sentences. The sets of a
question that lie on the upper hull of its scores by retrievals are taken in the order of their gain
per retrieval, over all questions (a greedy solution of the fractional knapsack). The result is a
lower bound of the ceiling: other sets, queries or numbers of passages may score higher.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from scaar.core.types import PolicyOverrides, PolicyRequest
from scaar.evaluator.planning.settings import setting_of
from scaar.evaluator.records import Score, Setting

BUDGETED, BENEFIT = "oracle_budgeted", "oracle_benefit"
_DIGITS = 9
"""Digits of a gain; smaller differences are rounding errors."""


def budgeted_settings(
    scores: Iterable[Score], *, measure: str, query: str
) -> tuple[tuple[Setting, ...], tuple[Score, ...]]:
    """Return settings of the budgeted oracle, by rising budget, with a score for every question.

    ``scores`` are those of all plans. Between two settings the budgeted oracle is a mixture of
    both. The last one, the benefit oracle, has a setting of its own name too: it retrieves if and
    only if that raises the score of the question.

    Raises:
        ValueError: there is no score, or a question lacks the plan without retrievals.
    """
    by_question: defaultdict[str, list[Score]] = defaultdict(list)
    for score in scores:
        by_question[score.question_id].append(score)
    hulls = {name: _hull(found, measure) for name, found in by_question.items()}
    if not hulls:
        raise ValueError("there is no score of a plan")
    gains = {gain for hull in hulls.values() for gain, _ in hull[1:]}
    levels = [float("inf"), *sorted(gains, reverse=True)]
    overrides = PolicyOverrides(query=query)
    settings = [
        setting_of(PolicyRequest(BUDGETED, replace(overrides, theta=float(level))))
        for level in range(1, len(levels) + 1)
    ]
    found = [
        replace(_at(hull, level), setting=setting.label)
        for setting, level in zip(settings, levels, strict=True)
        for hull in hulls.values()
    ]
    benefit = setting_of(PolicyRequest(BENEFIT, overrides))
    found += [replace(hull[-1][1], setting=benefit.label) for hull in hulls.values()]
    return (*settings, benefit), tuple(found)


_Hull = Sequence[tuple[float, Score]]


def _hull(scores: Sequence[Score], measure: str) -> _Hull:
    """Return the vertices of a question by rising retrievals, each with its gain per retrieval."""
    at = min(scores, key=lambda each: (each.usage.retrievals, -each.values[measure]))
    if at.usage.retrievals:
        raise ValueError(f"question {at.question_id} has no plan without retrievals")
    vertices = [(float("inf"), at)]
    while steps := list(_steps(at, scores, measure)):
        # The steepest step; of equal ones the longest.
        gain, _, at = max(steps, key=lambda step: step[:2])
        vertices.append((gain, at))
    return vertices


def _steps(at: Score, scores: Sequence[Score], measure: str) -> Iterator[tuple[float, int, Score]]:
    for each in scores:
        more = each.usage.retrievals - at.usage.retrievals
        if more > 0 and each.values[measure] > at.values[measure]:
            gain = (each.values[measure] - at.values[measure]) / more
            yield round(gain, _DIGITS), more, each


def _at(hull: _Hull, level: float) -> Score:
    """Return the last vertex whose gain per retrieval is at least the level."""
    return [score for gain, score in hull if gain >= level][-1]
