"""The same number of candidates of theta for every policy, at quantiles of its trigger score.

A first pass in which nothing may be retrieved drafts and judges every sentence; the score of a
sentence is the theta at which it is on the edge of being retrieved for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.policies import PRESETS
from scaar.core.triggers import TRIGGERS
from scaar.core.types import PolicyOverrides, PolicyRequest
from scaar.evaluator.planning.settings import Values, setting_of
from scaar.evaluator.records import Prediction, Setting

MAX_GRID = 50


def check_grid(size: int, values: Values) -> None:
    """Passes a size of a grid that can be laid beside these values.

    Raises:
        InvalidRequest: it is out of its range, or theta has values already.
    """
    if not 2 <= size <= MAX_GRID:
        raise InvalidRequest.of("--grid", f"must be 2 to {MAX_GRID}, not {size}")
    if "theta" in values:
        raise InvalidRequest.of("--grid", "places theta itself: it goes without --theta")


def first_pass_settings(settings: Iterable[Setting]) -> tuple[Setting, ...]:
    """What is to be judged for these settings: one for each trigger that has a theta."""
    return tuple({_trigger(each): None for each in settings if _has_theta(each.policy)})


def candidates_of(predictions: Sequence[Prediction], label: str, *, size: int) -> tuple[float, ...]:
    """The candidates for the trigger of that label: so many quantiles of its scores, rising.

    Raises:
        ScaarError: fewer sentences were judged, or there are not so many different scores.
    """
    scores = trigger_scores(each for each in predictions if each.setting == label)
    if not scores:
        raise ScaarError(f"{label}: no sentence was judged, so theta cannot be placed")
    found = quantiles(scores, size, inside=True)
    if len(found) < size:
        # Where many scores are equal, the different ones are spread instead.
        found = quantiles(set(scores), size, inside=True)
    if len(found) < size:
        told = f"{label}: {len(scores)} sentences have {len(set(scores))} different trigger scores"
        raise ScaarError(f"{told}, too few for {size} candidates; take more questions")
    return found


def quantiles(scores: Iterable[float], size: int, *, inside: bool = False) -> tuple[float, ...]:
    """At most so many different thetas at even quantiles of the scores, rising.

    They reach from the least score to the greatest, or stay ``inside`` of them; one that is not
    above 0 is no theta.
    """
    rising = sorted(score for score in scores if score > 0)
    parts = size + 1 if inside else size - 1
    if not rising:
        return ()
    shares = range(1, parts) if inside else range(parts + 1)
    return tuple(sorted({_theta(_quantile(rising, at / parts)) for at in shares}))


def trigger_scores(predictions: Iterable[Prediction]) -> list[float]:
    """The trigger score of every judged sentence that theta decides about."""
    return [
        decision.score
        for prediction in predictions
        for decision in prediction.decisions
        if decision.score is not None
    ]


def with_candidates(
    settings: Iterable[Setting], candidates: Mapping[str, Sequence[float]]
) -> tuple[Setting, ...]:
    """Each setting at every candidate of its trigger; one without theta as it is."""
    found = []
    for each in settings:
        if not _has_theta(each.policy):
            found.append(each)
            continue
        for theta in candidates[_trigger(each).label]:
            policy = replace(each.policy, overrides=replace(each.policy.overrides, theta=theta))
            found.append(setting_of(policy, each.scorer, each.index))
    return tuple(found)


def _has_theta(policy: PolicyRequest) -> bool:
    return "theta" in PRESETS[policy.name].adjustable


def _trigger(setting: Setting) -> Setting:
    """The setting with nothing but what its trigger score goes by."""
    policy, asked = setting.policy, setting.policy.overrides
    kept = PolicyOverrides(
        trigger=asked.trigger,
        granularity=asked.granularity,
        spare_stop_words=asked.spare_stop_words,
    )
    trigger = asked.trigger or PRESETS[policy.name].trigger
    weighs = trigger is not None and TRIGGERS[trigger].uses_contributions
    return setting_of(replace(policy, overrides=kept), setting.scorer if weighs else None)


def _quantile(scores: Sequence[float], share: float) -> float:
    """The quantile of rising scores, between the two that are next to it."""
    at = share * (len(scores) - 1)
    below = int(at)
    above = min(below + 1, len(scores) - 1)
    return scores[below] + (at - below) * (scores[above] - scores[below])


def _theta(score: float) -> float:
    """The score as a theta: above 0, with digits that people can read."""
    return max(1e-6, float(f"{score:.4g}"))
