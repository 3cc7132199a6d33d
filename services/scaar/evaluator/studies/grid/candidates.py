"""Candidates of theta: the same number for every policy, at quantiles of its trigger score.

A first pass without retrieval drafts and judges every sentence. The score of a sentence is the
theta at which it would just trigger a retrieval.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.plurals import counted, plural
from scaar.core.policies import PRESETS
from scaar.core.policies.settings import adjustable
from scaar.core.triggers import TRIGGERS
from scaar.core.types import EvidenceKind, PolicyOverrides, PolicyRequest
from scaar.evaluator.planning.settings import Values, setting_of
from scaar.evaluator.records import Prediction, Setting

MAX_GRID = 50


def check_grid(size: int, values: Values, *, field: str = "grid") -> None:
    """Check that a grid of this size can be combined with these values.

    Raises:
        InvalidRequest: the size is out of range, or theta already has values; names the field.
    """
    if not 2 <= size <= MAX_GRID:
        raise InvalidRequest.of(field, f"must be 2 to {MAX_GRID}, not {size}")
    if "theta" in values:
        raise InvalidRequest.of(
            field, "cannot be combined with values of theta, which it places itself"
        )


def check_gridded(settings: Sequence[Setting]) -> None:
    """Check that a grid has an effect: some setting has a theta to place.

    Policies that are not published are those of an evaluator, which are unknown here.

    Raises:
        InvalidRequest: none has one.
    """
    policies = [each.policy for each in settings]
    if all(each.name in PRESETS and not _has_theta(each) for each in policies):
        names = ", ".join(dict.fromkeys(each.label for each in policies))
        raise InvalidRequest.of("grid", f"has no effect on {names}: none has a theta to place")


def first_pass_settings(settings: Iterable[Setting]) -> tuple[Setting, ...]:
    """Return the settings of the first pass: one for each trigger with a theta."""
    return tuple({_trigger(each): None for each in settings if _has_theta(each.policy)})


def candidates_of(predictions: Sequence[Prediction], label: str, *, size: int) -> tuple[float, ...]:
    """Return ``size`` quantiles of the scores of a trigger, in rising order.

    Raises:
        ScaarError: there are fewer judged sentences or fewer distinct scores.
    """
    scores = trigger_scores(each for each in predictions if each.setting == label)
    if not scores:
        raise ScaarError(f"{label}: no sentence was judged, so theta cannot be placed")
    found = quantiles(scores, size, inside=True)
    if len(found) < size:
        # Many scores are equal: use the quantiles of the distinct ones.
        found = quantiles(set(scores), size, inside=True)
    if len(found) < size:
        of_sentences = f"{label}: the scores of {counted(len(scores), 'sentence')} have"
        values = f"{len(set(scores))} different {plural(len(set(scores)), 'value')}"
        text = f"{of_sentences} {values}, too few for {counted(size, 'candidate')}"
        raise ScaarError(f"{text}; take more questions")
    return found


def quantiles(scores: Iterable[float], size: int, *, inside: bool = False) -> tuple[float, ...]:
    """Return at most ``size`` distinct thetas at even quantiles of the scores, in rising order.

    They range from the lowest score to the highest, or exclude both with ``inside``. Scores that
    are not above 0 are ignored.
    """
    rising = sorted(score for score in scores if score > 0)
    parts = size + 1 if inside else size - 1
    if not rising:
        return ()
    shares = range(1, parts) if inside else range(parts + 1)
    return tuple(sorted({_theta(_quantile(rising, at / parts)) for at in shares}))


def trigger_scores(predictions: Iterable[Prediction]) -> list[float]:
    """Return the trigger scores of all judged sentences."""
    return [
        decision.score
        for prediction in predictions
        for decision in prediction.decisions
        if decision.score is not None
    ]


def with_candidates(
    settings: Iterable[Setting], candidates: Mapping[str, Sequence[float]]
) -> tuple[Setting, ...]:
    """Return each setting at every candidate of its trigger.

    Settings without theta, or without candidates of their trigger, are returned unchanged.
    """
    found = []
    for each in settings:
        thetas = candidates.get(_trigger(each).label, ()) if _has_theta(each.policy) else ()
        if not thetas:
            found.append(each)
        for theta in thetas:
            policy = replace(each.policy, overrides=replace(each.policy.overrides, theta=theta))
            found.append(setting_of(policy, each.scorer, each.index))
    return tuple(found)


def count_settings(settings: Iterable[Setting], size: int) -> int:
    """Return the number of the settings at ``size`` candidates of theta."""
    return sum(size if _has_theta(each.policy) else 1 for each in settings)


def _has_theta(policy: PolicyRequest) -> bool:
    """Whether theta is placed: the policy takes one and names none, and its range has several."""
    preset = PRESETS[policy.name]
    trigger = policy.overrides.trigger or preset.trigger
    if "theta" not in adjustable(preset) or policy.overrides.theta is not None or trigger is None:
        return False
    limit = TRIGGERS[trigger].theta
    return limit.minimum != limit.maximum


def _trigger(setting: Setting) -> Setting:
    """The setting reduced to the values that determine its trigger score."""
    policy, overrides = setting.policy, setting.policy.overrides
    kept = PolicyOverrides(
        trigger=overrides.trigger,
        granularity=overrides.granularity,
        spare_stop_words=overrides.spare_stop_words,
        attention_span=overrides.attention_span,
        draft_tokens=overrides.draft_tokens,
        judge_conclusion=overrides.judge_conclusion,
    )
    trigger = overrides.trigger or PRESETS[policy.name].trigger
    weighs = trigger is not None and EvidenceKind.CONTRIBUTIONS in TRIGGERS[trigger].needs
    return setting_of(replace(policy, overrides=kept), setting.scorer if weighs else None)


def _quantile(scores: Sequence[float], share: float) -> float:
    """The quantile of rising scores, interpolated between its neighbours."""
    at = share * (len(scores) - 1)
    below = int(at)
    above = min(below + 1, len(scores) - 1)
    return scores[below] + (at - below) * (scores[above] - scores[below])


def _theta(score: float) -> float:
    """The score as a theta: above 0, with four significant digits."""
    return max(1e-6, float(f"{score:.4g}"))
