"""The policy of a tuning: for a budget of searches, or for a controlled risk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scaar.core.triggers import TRIGGERS
from scaar.core.triggers.rule import PROBABILITY
from scaar.core.types import RiskFigures
from scaar.evaluator.execution.progress import RunProgress
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.studies.tuning.candidates import Candidate, Label
from scaar.evaluator.studies.tuning.label_report import LabelReport, report_labels
from scaar.evaluator.studies.tuning.labels import LabelledDraft, Labeller
from scaar.evaluator.studies.tuning.learning_curve import CurvePoint, learning_curve
from scaar.evaluator.studies.tuning.objectives import MaxRisk, SearchBudget
from scaar.evaluator.studies.tuning.policy import TunedPolicy, value_by
from scaar.evaluator.studies.tuning.procedure import Tuner, Tuning
from scaar.evaluator.studies.tuning.records import TunedQuestion
from scaar.evaluator.studies.tuning.risk import (
    CALIBRATION_FOLDS,
    DELTA,
    GRID,
    check_answers,
    controlled,
)
from scaar.evaluator.studies.tuning.selection import clustered_mean
from scaar.evaluator.studies.tuning.target import Target
from scaar.evaluator.studies.tuning.timing import Latency
from scaar.evaluator.studies.tuning.trajectories import Trajectories

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class ChosenPolicy:
    """The policy of a tuning; with a controlled risk, its figures on the calibration split.

    ``caught`` and ``false_alarms`` are the shares of the wrong and of the right drafts that trigger
    a retrieval, with 95% intervals over entities. ``labels`` compares the labels of the drafts, if
    a learned trigger is among the candidates.
    """

    policy: TunedPolicy
    tuning: Tuning
    risk: RiskFigures | None = None
    caught: Estimate | None = None
    false_alarms: Estimate | None = None
    labels: LabelReport | None = None
    curve: tuple[CurvePoint, ...] = ()


def calibration_split(questions: Sequence[TunedQuestion]) -> list[TunedQuestion]:
    """Return the questions on which a risk is controlled; their entities are in no other split."""
    return [each for each in questions if each.fold in CALIBRATION_FOLDS]


def check_target(target: Target, questions: Sequence[TunedQuestion]) -> None:
    """Check that there are enough questions for the target.

    Raises:
        InvalidRequest: a risk cannot be controlled with so few questions.
    """
    if target.max_risk is not None:
        check_answers(len(calibration_split(questions)), target.max_risk)


async def choose_policy(
    trajectories: Trajectories,
    questions: Sequence[TunedQuestion],
    candidates: Sequence[Candidate],
    label: Label,
    target: Target,
    progress: RunProgress,
    *,
    latency: Latency | None = None,
    curve_sizes: Sequence[int] = (),
) -> ChosenPolicy:
    """Tune the candidates, and return the policy for the target.

    ``label`` is what makes the acceptance of a draft a loss. ``curve_sizes`` are the numbers of
    questions of a learning curve.

    Raises:
        ScaarError: no candidate can be tuned, or no threshold keeps the risk.
    """
    labeller = Labeller(trajectories, questions, label)
    if target.budget is not None:
        objective = SearchBudget(target.budget)

        def tuner_of(some: Sequence[TunedQuestion]) -> Tuner:
            return Tuner(
                *(trajectories, some, candidates),
                objective=objective,
                labeller=labeller,
                latency=latency,
            )

        tuner = tuner_of(questions)
        tuning = await tuner.run(progress)
        labels = await report_labels(tuner, tuning.chosen.policy)
        curve = await learning_curve(questions, curve_sizes, tuner_of, progress)
        return ChosenPolicy(tuning.chosen.policy, tuning, labels=labels, curve=curve)
    assert target.max_risk is not None
    risk = MaxRisk(target.max_risk, labeller.accepted)
    selecting = [each for each in questions if each.fold not in CALIBRATION_FOLDS]
    tuner = Tuner(
        *(trajectories, selecting, candidates), objective=risk, labeller=labeller, latency=latency
    )
    tuning = await tuner.run(progress)
    found = await _controlled(tuner, tuning, calibration_split(questions), target.max_risk)
    return replace(found, labels=await report_labels(tuner, tuning.chosen.policy))


async def _controlled(
    tuner: Tuner, tuning: Tuning, questions: Sequence[TunedQuestion], max_risk: float
) -> ChosenPolicy:
    """Return the chosen policy with the threshold that is valid on the calibration split."""
    trajectories, labeller = tuner.trajectories, tuner.labeller
    policy = tuning.chosen.policy
    candidate = policy.candidate
    value = value_by(candidate.trigger, policy.learned)
    thetas = await tuner.fitter.thetas(candidate, value, tuner.questions, count=GRID)
    rising = TRIGGERS[candidate.trigger].theta is PROBABILITY

    async def losses(theta: float) -> list[bool]:
        fires = replace(policy, theta=theta).fires
        answers = await trajectories.answers(candidate.retrieving, fires, questions)
        return await labeller.accepted(candidate.retrieving, fires, answers)

    ordered = thetas[::-1] if rising else thetas
    theta = await controlled(ordered, losses, max_risk=max_risk)
    policy = replace(policy, theta=theta)
    answers = await trajectories.answers(candidate.retrieving, policy.fires, questions)
    drafts = await labeller.label_drafts(
        labeller.label, candidate.retrieving, policy.fires, answers
    )
    entities = {each.key: each.entity for each in questions}
    caught, false_alarms = (
        _retrieved([each for each in drafts if each.has(labeller.label) is wrong], policy, entities)
        for wrong in (True, False)
    )
    lost = await losses(theta)
    figures = RiskFigures(
        max_risk=round(max_risk, _DIGITS),
        delta=DELTA,
        answers=len(questions),
        risk=round(sum(lost) / len(lost), _DIGITS),
        caught=None if caught.value is None else round(caught.value, _DIGITS),
        false_alarms=None if false_alarms.value is None else round(false_alarms.value, _DIGITS),
    )
    return ChosenPolicy(policy, tuning, figures, caught, false_alarms)


def _retrieved(
    drafts: Sequence[LabelledDraft], policy: TunedPolicy, entities: Mapping[str, str]
) -> Estimate:
    """Return the share of the drafts that trigger a retrieval; undefined without drafts."""
    if not drafts:
        return Estimate(None)
    fired = np.array([policy.fires(each.draft) for each in drafts], dtype=np.float64)
    return clustered_mean(fired, [entities[each.question] for each in drafts])
