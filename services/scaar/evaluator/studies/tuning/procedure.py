"""Nested cross-validation over the whole procedure.

The inner cross-validation estimates every candidate: its parameters and its threshold are fitted to
all folds but one, and it is measured on that one. The outer cross-validation repeats the choice
without a fold, and measures what was chosen on it; the difference of the two estimates is the
optimism of the inner one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scaar.core.errors import ScaarError
from scaar.core.triggers import TRIGGERS, learned
from scaar.core.triggers.rule import PROBABILITY
from scaar.evaluator.execution.progress import RunProgress
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.statistics.table import Floats
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
from scaar.evaluator.studies.tuning.selection import chosen, clustered_mean, near_best
from scaar.evaluator.studies.tuning.trajectories import Trajectories

THETAS = 256
"""Maximum number of thresholds between which that of a budget is searched."""


Folds = frozenset[int]
Questions = Sequence[TunedQuestion]


@dataclass(frozen=True, slots=True)
class CandidateResult:
    """A candidate with its inner estimate, over questions that it was not fitted to."""

    candidate: Candidate
    policy: TunedPolicy
    quality: Estimate
    searches: Estimate
    near_best: bool
    """Whether it is within one standard error of the best candidate."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result of a tuning.

    ``inner`` is the estimate of the chosen candidate by which it was chosen, averaged over the
    outer folds, and ``outer`` that of the whole procedure on questions it was not applied to.
    """

    results: tuple[CandidateResult, ...]
    chosen: CandidateResult
    questions: int
    inner: float
    outer: Estimate
    outer_searches: Estimate

    @property
    def optimism(self) -> float:
        """The inner minus the outer estimate."""
        assert self.outer.value is not None
        return self.inner - self.outer.value


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """The quality and the searches of every question."""

    quality: Floats
    searches: Floats


class Tuner:
    """Tunes candidates for an objective."""

    def __init__(
        self,
        trajectories: Trajectories,
        questions: Questions,
        candidates: Sequence[Candidate],
        *,
        objective: Objective,
        labeller: Labeller,
    ) -> None:
        self._trajectories = trajectories
        self._questions = tuple(questions)
        self._candidates = tuple(candidates)
        self._objective = objective
        self._labeller = labeller
        self._fitted: dict[tuple[Candidate, Folds], TunedPolicy | None] = {}

    async def run(self, progress: RunProgress) -> Tuning:
        """Tune every candidate, and choose one."""
        every = frozenset(each.fold for each in self._questions)
        progress.name = "tuning candidates"
        with progress.watch(len(self._candidates), 0) as count:
            for each in self._candidates:
                await self._tuned(each, every)
                count(None)
        candidates = [each for each in self._candidates if self._fitted[each, every]]
        if not candidates:
            raise ScaarError("no candidate has a theta: no sentence was judged, or none is certain")
        inner = [every - {fold} for fold in sorted(every)]
        pairs = [one & other for at, one in enumerate(inner) for other in inner[at + 1 :]]
        progress.name = "cross-validation"
        with progress.watch(len(candidates) * len(inner + pairs), 0) as count:
            for folds in inner + pairs:
                for each in candidates:
                    await self._tuned(each, folds)
                    count(None)
            return await self._result(candidates, every)

    async def _result(self, candidates: Sequence[Candidate], every: Folds) -> Tuning:
        clusters = [each.entity for each in self._questions]
        measured = await self._estimates(candidates, every)
        qualities = np.array([each.quality for each in measured])
        near = near_best(qualities, clusters)
        results = []
        for each, found, is_near in zip(candidates, measured, near, strict=True):
            policy = await self._tuned(each, every)
            assert policy is not None
            quality = clustered_mean(found.quality, clusters)
            searches = clustered_mean(found.searches, clusters)
            results.append(CandidateResult(each, policy, quality, searches, is_near))
        best = chosen(qualities, clusters, self._costs(candidates, measured))
        inner, outer = [], []
        for fold in sorted(every):
            estimates = await self._estimates(candidates, every - {fold})
            of_fold = np.array([each.quality for each in estimates])
            named = [each.entity for each in self._questions if each.fold != fold]
            at = chosen(of_fold, named, self._costs(candidates, estimates))
            inner.append(float(of_fold[at].mean()))
            policy = await self._tuned(candidates[at], every - {fold})
            outer.append(await self.measured(policy, self._of(frozenset({fold}))))
        order = np.argsort([each.fold for each in self._questions], kind="stable")
        reordered = [clusters[at] for at in order]
        return Tuning(
            tuple(results),
            results[best],
            len(self._questions),
            float(np.mean(inner)),
            clustered_mean(np.concatenate([each.quality for each in outer]), reordered),
            clustered_mean(np.concatenate([each.searches for each in outer]), reordered),
        )

    def _costs(self, candidates: Sequence[Candidate], measured: Sequence[_Measured]) -> list[float]:
        return [
            self._objective.cost(each, float(found.searches.mean()))
            for each, found in zip(candidates, measured, strict=True)
        ]

    async def _estimates(self, candidates: Sequence[Candidate], folds: Folds) -> list[_Measured]:
        """Return the inner estimate of each candidate over the questions of some folds."""
        questions = self._of(folds)
        places = {each.key: at for at, each in enumerate(questions)}
        found = []
        for each in candidates:
            quality, searches = np.zeros(len(questions)), np.zeros(len(questions))
            for fold in sorted(folds):
                tested = self._of(frozenset({fold}))
                at = [places[question.key] for question in tested]
                measured = await self.measured(await self._tuned(each, folds - {fold}), tested)
                quality[at], searches[at] = measured.quality, measured.searches
            found.append(_Measured(quality, searches))
        return found

    async def measured(self, policy: TunedPolicy | None, questions: Questions) -> _Measured:
        """Return what a policy reaches on questions; without a policy, it scores 0."""
        if policy is None:
            return _Measured(np.zeros(len(questions)), np.zeros(len(questions)))
        answers = await self._trajectories.answers(
            policy.candidate.retrieving, policy.fires, questions
        )
        return _Measured(
            np.array([each.quality or 0.0 for each in answers]),
            np.array([each.searches for each in answers], dtype=np.float64),
        )

    async def _tuned(self, candidate: Candidate, folds: Folds) -> TunedPolicy | None:
        """Return the candidate fitted to the questions of some folds; None if it cannot be."""
        key = candidate, folds
        if key not in self._fitted:
            self._fitted[key] = await self._fit(candidate, self._of(folds))
        return self._fitted[key]

    async def _fit(self, candidate: Candidate, questions: Questions) -> TunedPolicy | None:
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
            labelled = await self._labeller.label_drafts(
                candidate.retrieving, policy.fires, answers
            )
            parameters = fit_learned(labelled, self._labeller.label)
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
        questions: Questions | None = None,
        *,
        count: int,
    ) -> tuple[float, ...]:
        """Return thetas at quantiles of the values of the drafts without retrievals.

        They are in rising order. Without ``questions``, they are of all questions of the tuner.
        """
        questions = self._questions if questions is None else questions
        without = await self._trajectories.answers(
            candidate.retrieving, lambda draft: False, questions
        )
        values = (value(draft) for each in without for draft in each.drafts)
        return quantiles(
            (threshold_of(candidate.trigger, each) for each in values if abs(each) < ALWAYS), count
        )

    def _of(self, folds: Folds) -> Questions:
        return [each for each in self._questions if each.fold in folds]
