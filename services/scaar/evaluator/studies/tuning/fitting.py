"""The fit of candidates to questions: the parameters of learned triggers, and thresholds."""

from collections.abc import Sequence

from scaar.core.triggers import TRIGGERS, learned
from scaar.core.triggers.rule import PROBABILITY
from scaar.evaluator.studies.grid.candidates import quantiles
from scaar.evaluator.studies.tuning.candidates import REFERENCE, Candidate
from scaar.evaluator.studies.tuning.drafting import threshold_of
from scaar.evaluator.studies.tuning.labels import Labeller
from scaar.evaluator.studies.tuning.learning import fit_learned
from scaar.evaluator.studies.tuning.objectives import Objective, Trial
from scaar.evaluator.studies.tuning.policy import (
    TunedPolicy,
    Value,
    fires_above,
    value_by,
)
from scaar.evaluator.studies.tuning.records import ALWAYS, TunedQuestion
from scaar.evaluator.studies.tuning.trajectories import Trajectories

THETAS = 256
"""Maximum number of thresholds between which that of an objective is searched."""
Questions = Sequence[TunedQuestion]


class CandidateFitter:
    """Fits candidates for an objective."""

    def __init__(
        self, trajectories: Trajectories, objective: Objective, labeller: Labeller
    ) -> None:
        self._trajectories = trajectories
        self._objective = objective
        self._labeller = labeller

    async def fit(self, candidate: Candidate, questions: Questions) -> TunedPolicy | None:
        """Return the candidate with its threshold and its parameters; None if it has none."""
        if candidate.trigger != learned.NAME:
            theta = await self._theta(candidate, value_by(candidate.trigger), questions)
            return None if theta is None else TunedPolicy(candidate, theta)
        return await self._fit_learned(candidate, questions)

    async def _fit_learned(self, candidate: Candidate, questions: Questions) -> TunedPolicy | None:
        """Fit to the answers of the reference trigger, then once more to its own answers."""
        reference = Candidate(REFERENCE, candidate.retrieving)
        theta = await self._theta(reference, value_by(REFERENCE), questions)
        policy = None if theta is None else TunedPolicy(reference, theta)
        for _ in range(2):
            if policy is None:
                return None
            answers = await self._trajectories.answers(
                candidate.retrieving, policy.fires, questions
            )
            assert candidate.label is not None
            labelled = await self._labeller.label_drafts(
                candidate.label, candidate.retrieving, policy.fires, answers
            )
            parameters = fit_learned(labelled, candidate.label)
            if parameters is None:
                return None
            theta = await self._theta(candidate, value_by(learned.NAME, parameters), questions)
            policy = None if theta is None else TunedPolicy(candidate, theta, parameters)
        return policy

    async def _theta(
        self, candidate: Candidate, value: Value, questions: Questions
    ) -> float | None:
        """Return the theta of the objective."""
        trigger = candidate.trigger

        async def attempt(theta: float) -> Trial:
            fires = fires_above(value, threshold_of(trigger, theta))
            answers = await self._trajectories.answers(candidate.retrieving, fires, questions)
            return Trial(candidate.retrieving, fires, answers)

        thetas = await self.thetas(candidate, value, questions, count=THETAS)
        rising = TRIGGERS[trigger].theta is PROBABILITY
        return await self._objective.theta(thetas, attempt, rising=rising)

    async def thetas(
        self,
        candidate: Candidate,
        value: Value,
        questions: Questions,
        *,
        count: int,
    ) -> tuple[float, ...]:
        """Return thetas at quantiles of the values of the drafts without retrievals.

        They are in rising order.
        """
        without = await self._trajectories.answers(
            candidate.retrieving, lambda draft: False, questions
        )
        values = (value(draft) for each in without for draft in each.drafts)
        return quantiles(
            (threshold_of(candidate.trigger, each) for each in values if abs(each) < ALWAYS), count
        )
