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
from scaar.evaluator.execution.progress import RunProgress
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.tuning.candidates import Candidate
from scaar.evaluator.studies.tuning.fitting import CandidateFitter
from scaar.evaluator.studies.tuning.labels import Labeller
from scaar.evaluator.studies.tuning.objectives import Objective
from scaar.evaluator.studies.tuning.policy import TunedPolicy
from scaar.evaluator.studies.tuning.records import TunedQuestion
from scaar.evaluator.studies.tuning.selection import chosen, clustered_mean, near_best
from scaar.evaluator.studies.tuning.timing import Latency
from scaar.evaluator.studies.tuning.trajectories import Trajectories

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
    seconds: Estimate | None = None
    """The time of an answer, if the objective has one."""

    def score(self, weight: float) -> float:
        """Return the quality minus the weighted time."""
        seconds = self.seconds.value if self.seconds else None
        return (self.quality.value or 0.0) - weight * (seconds or 0.0)


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result of a tuning.

    ``inner`` is the estimate of the chosen candidate by which it was chosen, averaged over the
    outer folds, and ``outer`` that of the whole procedure on questions it was not applied to.
    ``optimism`` is the difference of the two; with a latency weight, that of the quality minus the
    weighted time.
    """

    results: tuple[CandidateResult, ...]
    chosen: CandidateResult
    questions: int
    inner: float
    outer: Estimate
    outer_searches: Estimate
    optimism: float
    outer_seconds: Estimate | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The quality, the searches and the time in s of every question; without weight, no time."""

    quality: Floats
    searches: Floats
    seconds: Floats
    weight: float = 0.0

    @property
    def score(self) -> Floats:
        """What a choice maximizes: the quality minus the weighted time."""
        return self.quality - self.weight * self.seconds


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
        latency: Latency | None = None,
    ) -> None:
        self.trajectories = trajectories
        self.questions = tuple(questions)
        self.candidates = tuple(candidates)
        self.labeller = labeller
        self._objective = objective
        self.fitter = CandidateFitter(trajectories, objective, labeller)
        self._latency = latency
        self._fitted: dict[tuple[Candidate, Folds], TunedPolicy | None] = {}

    @property
    def folds(self) -> Folds:
        """The folds of the questions."""
        return frozenset(each.fold for each in self.questions)

    async def run(self, progress: RunProgress) -> Tuning:
        """Tune every candidate, and choose one."""
        every = self.folds
        progress.name = "tuning candidates"
        with progress.watch(len(self.candidates), 0) as count:
            for each in self.candidates:
                await self.tuned(each, every)
                count(None)
        candidates = [each for each in self.candidates if self._fitted[each, every]]
        if not candidates:
            raise ScaarError("no candidate has a theta: no sentence was judged, or none is certain")
        inner = [every - {fold} for fold in sorted(every)]
        pairs = [one & other for at, one in enumerate(inner) for other in inner[at + 1 :]]
        progress.name = "cross-validation"
        with progress.watch(len(candidates) * len(inner + pairs), 0) as count:
            for folds in inner + pairs:
                for each in candidates:
                    await self.tuned(each, folds)
                    count(None)
            return await self._result(candidates, every)

    async def _result(self, candidates: Sequence[Candidate], every: Folds) -> Tuning:
        clusters = [each.entity for each in self.questions]
        measured = await self._estimates(candidates, every)
        scores = np.array([each.score for each in measured])
        near = near_best(scores, clusters)
        results = []
        for each, found, is_near in zip(candidates, measured, near, strict=True):
            policy = await self.tuned(each, every)
            assert policy is not None
            quality = clustered_mean(found.quality, clusters)
            searches = clustered_mean(found.searches, clusters)
            seconds = clustered_mean(found.seconds, clusters) if self._latency else None
            results.append(CandidateResult(each, policy, quality, searches, is_near, seconds))
        best = chosen(scores, clusters, self._costs(candidates, measured))
        inner, outer = [], []
        for fold in sorted(every):
            policy, estimate = await self._choice(candidates, every - {fold})
            inner.append(estimate)
            outer.append(await self.measured(policy, self._of(frozenset({fold}))))
        order = np.argsort([each.fold for each in self.questions], kind="stable")
        reordered = [clusters[at] for at in order]

        def pooled(values: Sequence[Floats]) -> Estimate:
            return clustered_mean(np.concatenate(values), reordered)

        score = pooled([each.score for each in outer]).value
        assert score is not None
        return Tuning(
            tuple(results),
            results[best],
            len(self.questions),
            float(np.mean(inner)),
            pooled([each.quality for each in outer]),
            pooled([each.searches for each in outer]),
            float(np.mean(inner)) - score,
            pooled([each.seconds for each in outer]) if self._latency else None,
        )

    async def choice(self) -> TunedPolicy | None:
        """Return the policy that is chosen on the questions; None if no candidate can be tuned."""
        every = self.folds
        tuned = [each for each in self.candidates if await self.tuned(each, every)]
        return (await self._choice(tuned, every))[0] if tuned else None

    async def _choice(
        self, candidates: Sequence[Candidate], folds: Folds
    ) -> tuple[TunedPolicy | None, float]:
        """Return the policy that is chosen on the questions of folds, and its inner estimate."""
        estimates = await self._estimates(candidates, folds)
        scores = np.array([each.score for each in estimates])
        named = [each.entity for each in self._of(folds)]
        at = chosen(scores, named, self._costs(candidates, estimates))
        return await self.tuned(candidates[at], folds), float(scores[at].mean())

    def _costs(self, candidates: Sequence[Candidate], measured: Sequence[Measured]) -> list[float]:
        spent = (each.seconds if self._latency else each.searches for each in measured)
        return [
            self._objective.cost(each, float(found.mean()))
            for each, found in zip(candidates, spent, strict=True)
        ]

    async def _estimates(self, candidates: Sequence[Candidate], folds: Folds) -> list[Measured]:
        """Return the inner estimate of each candidate over the questions of some folds."""
        questions = self._of(folds)
        places = {each.key: at for at, each in enumerate(questions)}
        found = []
        for each in candidates:
            values = np.zeros((3, len(questions)))
            for fold in sorted(folds):
                tested = self._of(frozenset({fold}))
                at = [places[question.key] for question in tested]
                own = await self.measured(await self.tuned(each, folds - {fold}), tested)
                values[:, at] = own.quality, own.searches, own.seconds
            quality, searches, seconds = values
            found.append(Measured(quality, searches, seconds, self._weight))
        return found

    async def measured(self, policy: TunedPolicy | None, questions: Questions) -> Measured:
        """Return what a policy reaches on questions; without a policy, it scores 0."""
        nothing = np.zeros(len(questions))
        if policy is None:
            return Measured(nothing, nothing, nothing)
        candidate = policy.candidate
        answers = await self.trajectories.answers(candidate.retrieving, policy.fires, questions)
        return Measured(
            np.array([each.quality or 0.0 for each in answers]),
            np.array([each.searches for each in answers], dtype=np.float64),
            self._latency.seconds(candidate, answers) if self._latency else nothing,
            self._weight,
        )

    @property
    def _weight(self) -> float:
        return self._latency.weight if self._latency else 0.0

    async def tuned(self, candidate: Candidate, folds: Folds) -> TunedPolicy | None:
        """Return the candidate fitted to the questions of some folds; None if it cannot be."""
        key = candidate, folds
        if key not in self._fitted:
            self._fitted[key] = await self.fitter.fit(candidate, self._of(folds))
        return self._fitted[key]

    def _of(self, folds: Folds) -> Questions:
        return [each for each in self.questions if each.fold in folds]
