"""The artefact of a tuned policy, with the figures of its own answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scaar.core.errors import ScaarError
from scaar.core.policies.artefact_json import with_digest
from scaar.core.policies.requirements import needs_scorer
from scaar.core.types import (
    DevelopmentFigures,
    ExpectedCost,
    Interval,
    LabelKind,
    LatencyFigures,
    PolicyArtefact,
    PolicyRequest,
    RiskFigures,
    TuningConditions,
)
from scaar.evaluator.records import Prediction
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.studies.tuning.policy import TunedPolicy
from scaar.evaluator.studies.tuning.records import TunedQuestion
from scaar.evaluator.studies.tuning.selection import clustered_mean

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers of a policy to the questions that it was tuned on."""

    quality: Estimate
    searches: Estimate
    trigger_rate: float
    searches_of: tuple[int, ...]
    """The searches of each question."""


def request_of(policy: TunedPolicy) -> PolicyRequest:
    """Return the request of a tuned policy without an artefact."""
    candidate = policy.candidate
    return PolicyRequest(
        candidate.policy, candidate.overrides(policy.theta), learned=policy.learned
    )


def answered(
    predictions: Sequence[Prediction],
    qualities: Sequence[float | None],
    questions: Sequence[TunedQuestion],
) -> Answered:
    """Return the figures of answers; without labels the quality is undefined."""
    clusters = [each.entity for each in questions]
    known = [each for each in qualities if each is not None]
    return Answered(
        clustered_mean(np.array(known), clusters)
        if len(known) == len(clusters)
        else Estimate(None),
        clustered_mean(
            np.array([each.usage.searches for each in predictions], dtype=np.float64), clusters
        ),
        trigger_rate(predictions),
        tuple(each.usage.searches for each in predictions),
    )


def trigger_rate(predictions: Sequence[Prediction]) -> float:
    """Return the share of the judged drafts that trigger a retrieval.

    Raises:
        ScaarError: no draft was judged.
    """
    judged = [each for found in predictions for each in found.decisions if each.words]
    if not judged:
        raise ScaarError("no sentence was judged, so there is nothing to tune")
    return sum(each.trigger is not None for each in judged) / len(judged)


def artefact_of(
    name: str,
    policy: TunedPolicy,
    tuned_on: TuningConditions,
    figures: Answered,
    *,
    label_kind: LabelKind,
    questions: int,
    candidates: int,
    measure: str = "",
    optimism: float | None = None,
    risk: RiskFigures | None = None,
    latency: LatencyFigures | None = None,
) -> PolicyArtefact:
    """Return the artefact of a policy with its digest."""
    request = request_of(policy)
    if not needs_scorer(request):
        tuned_on = replace(tuned_on, scorer="", scorer_revision="")
    quality = figures.quality
    assert figures.searches.value is not None
    return with_digest(
        PolicyArtefact(
            name=name,
            policy=request.name,
            settings=request.overrides,
            tuned_on=tuned_on,
            label_kind=label_kind,
            development=DevelopmentFigures(
                questions=questions,
                candidates=candidates,
                measure=measure,
                quality=_interval(quality),
                optimism=None if optimism is None else round(optimism, _DIGITS),
            ),
            expected=ExpectedCost(
                round(figures.searches.value, _DIGITS), round(figures.trigger_rate, _DIGITS)
            ),
            learned=policy.learned,
            risk=risk,
            latency=latency,
        )
    )


def _interval(found: Estimate) -> Interval | None:
    if found.value is None or found.low is None or found.high is None:
        return None
    return Interval(*(round(each, _DIGITS) for each in (found.value, found.low, found.high)))
