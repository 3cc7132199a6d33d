"""Learners of gates: each is fitted to some questions of a sample, and judges others.

A score says how far a question is above the threshold of the gate: from 0 on, it retrieves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from scaar.core.gates.skr import vote_threshold
from scaar.encoders.nearest_questions import nearest_first
from scaar.evaluator.statistics.regression import fit_logistic
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.gates.sample import GateSample, Positions
from scaar.evaluator.studies.gates.target import Target

PENALTIES = (1_000.0, 100.0, 10.0)
"""Candidates of the penalty of a logistic model; of equally good ones the first is chosen."""
NEIGHBOURS = range(5, 11)
"""Candidates of the number of neighbours, those of SKR's code."""
MIN_QUESTIONS_OF_A_WORD = 5
"""The minimum number of questions with a word that has a weight."""


class Fit(Protocol):
    """A learner with all its values set."""

    def scores(self, sample: GateSample, train: Positions, test: Positions) -> Floats:
        """Return the scores of the questions at ``test`` after a fit to those at ``train``."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """Logistic models over features: of wrong answers, or of help and of harm.

    The score is the probability of a wrong answer less one half, or the probability that retrieval
    helps less the probability that it harms. A feature that is 0 for nearly all questions at
    ``train`` is left out.
    """

    features: Floats
    target: Target
    penalty: float

    def scores(self, sample: GateSample, train: Positions, test: Positions) -> Floats:
        """Return the scores; see :class:`Fit`."""
        kept = (self.features[train] != 0).sum(axis=0) >= MIN_QUESTIONS_OF_A_WORD
        features = self.features[:, kept]
        if self.target is Target.WRONG:
            wrong = self._probabilities(features, sample.wrong, train, test)
            return wrong - 0.5
        helped, harmed = (
            self._probabilities(features, (sample.benefit == sign) * 1.0, train, test)
            for sign in (1, -1)
        )
        return helped - harmed

    def _probabilities(
        self, features: Floats, truths: Floats, train: Positions, test: Positions
    ) -> Floats:
        model = fit_logistic(features[train], truths[train], penalty=self.penalty)
        return np.asarray(1 / (1 + np.exp(-model.logits(features[test]))))


@dataclass(frozen=True, slots=True, eq=False)
class Skr:
    """The vote of the nearest questions that retrieval helped or harmed."""

    vectors: Floats
    neighbours: int

    def scores(self, sample: GateSample, train: Positions, test: Positions) -> Floats:
        """Return the scores; see :class:`Fit`."""
        labelled = train[sample.benefit[train] != 0]
        helped = sample.benefit[labelled] > 0
        similarities = self.vectors[test] @ self.vectors[labelled].T
        neighbours = min(self.neighbours, len(labelled))
        nearest = nearest_first(similarities)[:, :neighbours]
        count = int(helped.sum())
        threshold = vote_threshold(
            count, len(labelled) - count, len(train) - len(labelled), neighbours=neighbours
        )
        return np.asarray(helped[nearest].mean(axis=1) - threshold)


@dataclass(frozen=True, slots=True, eq=False)
class LogisticLearner:
    """Logistic models over features with any of the penalties.

    A combination also has the scores of the gates named by ``stacked`` as features.
    """

    features: Floats
    stacked: tuple[str, ...] = ()

    def with_scores(self, scores: Sequence[Floats]) -> "LogisticLearner":
        """Return the learner with further features."""
        return LogisticLearner(np.column_stack([self.features, *scores]))

    def fits(self, target: Target) -> Iterator[Fit]:
        """Yield the candidates."""
        for penalty in PENALTIES:
            yield Logistic(self.features, target, penalty)


@dataclass(frozen=True, slots=True, eq=False)
class SkrLearner:
    """SKR with any number of neighbours; it has labels of the benefit only."""

    vectors: Floats

    def fits(self, target: Target) -> Iterator[Fit]:
        """Yield the candidates."""
        for neighbours in NEIGHBOURS:
            yield Skr(self.vectors, neighbours)


Learner = LogisticLearner | SkrLearner
