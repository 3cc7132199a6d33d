"""Scores of gates for questions that they were not trained on.

Nested cross-validation, repeated: an outer fold is judged by gates that are fitted to the other
folds, whose values (penalty, number of neighbours) are chosen by an inner cross-validation within
those other folds. Clusters of questions are never divided.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from scaar.evaluator.statistics.detection import ranks
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.gates import REPEATS
from scaar.evaluator.studies.gates.candidates import Gate
from scaar.evaluator.studies.gates.learners import Fit, Learner, LogisticLearner
from scaar.evaluator.studies.gates.sample import GateSample, Positions
from scaar.evaluator.studies.gates.target import Target
from scaar.evaluator.studies.tuning.folds import FOLDS, fold_of

INNER_FOLDS = 3
Progress = Callable[[float], None]
"""Called with the finished share of the work, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Trained:
    """A gate by name, and the target that it was trained on."""

    gate: str
    target: Target


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The questions at ``positions``, each judged by gates that were not trained on it.

    ``scores`` are repetitions by questions, for each gate; ``groups`` names the fold of each
    question in each repetition: scores of one fold are comparable with each other.
    """

    positions: Positions
    groups: Floats
    scores: dict[Trained, Floats]


def cross_validated(
    sample: GateSample,
    gates: Sequence[Gate],
    *,
    repeats: int = REPEATS,
    progress: Progress = lambda share: None,
) -> Judged:
    """Return the scores of all questions by repeated nested cross-validation."""
    everything = np.arange(len(sample.questions))
    scores: dict[Trained, Floats] = {}
    groups = np.zeros((repeats, len(everything)))
    for repeat in range(repeats):
        groups[repeat] = _folds(sample, everything, f"outer {repeat}", FOLDS)
        for fold in range(FOLDS):
            test = np.flatnonzero(groups[repeat] == fold)
            train = np.flatnonzero(groups[repeat] != fold)
            for trained, found in _judge(sample, gates, train, test, f"inner {repeat}").items():
                scores.setdefault(trained, np.zeros(groups.shape))[repeat, test] = found
            progress((repeat * FOLDS + fold + 1) / (repeats * FOLDS))
    return Judged(everything, groups, scores)


def transferred(
    sample: GateSample,
    gates: Sequence[Gate],
    train: Positions,
    test: Positions,
    *,
    repeats: int = REPEATS,
) -> Judged:
    """Return the scores of the questions at ``test`` by gates fitted to those at ``train``.

    The repetitions choose the values of the gates with other inner folds.
    """
    scores: dict[Trained, list[Floats]] = {}
    for repeat in range(repeats):
        for trained, found in _judge(sample, gates, train, test, f"inner {repeat}").items():
            scores.setdefault(trained, []).append(found)
    groups = np.zeros((repeats, len(test)))
    return Judged(test, groups, {each: np.array(found) for each, found in scores.items()})


def _judge(
    sample: GateSample, gates: Sequence[Gate], train: Positions, test: Positions, seed: str
) -> dict[Trained, Floats]:
    """Return the scores at ``test`` of every gate, fitted to the questions at ``train``."""
    folds = _folds(sample, train, seed, INNER_FOLDS)
    scores: dict[Trained, Floats] = {}
    for gate in gates:
        learner = gate.learner
        if isinstance(learner, LogisticLearner) and learner.stacked:
            learner = learner.with_scores(
                [found for each, found in scores.items() if each.gate in learner.stacked]
            )
        for target in gate.targets:
            fit, inner = _choose(sample, learner, target, train, folds)
            found = np.zeros(len(sample.questions))
            found[train], found[test] = inner, fit.scores(sample, train, test)
            scores[Trained(gate.name, target)] = found
    return {trained: found[test] for trained, found in scores.items()}


def _choose(
    sample: GateSample, learner: Learner, target: Target, train: Positions, folds: Floats
) -> tuple[Fit, Floats]:
    """Return the fit whose order of the questions at ``train`` is best, and its scores of them.

    The order is best if the mean of rank times value is highest, with ranks within the inner folds.
    For values of 0 and 1 this is the order with the highest AUROC.
    """
    values, best = target.values(sample)[train], -np.inf
    chosen: tuple[Fit, Floats] | None = None
    for fit in learner.fits(target):
        scores, ordered = np.zeros(len(train)), np.zeros(len(train))
        for fold in range(INNER_FOLDS):
            within = folds == fold
            scores[within] = fit.scores(sample, train[~within], train[within])
            ordered[within] = ranks(scores[within])
        if (agreement := float((ordered * values).mean())) > best:
            best, chosen = agreement, (fit, scores)
    if chosen is None:
        raise ValueError("a learner has no candidate")
    return chosen


def _folds(sample: GateSample, positions: Positions, seed: str, count: int) -> Floats:
    """Return the fold of each question: that of its cluster."""
    entities = (sample.questions[each].entity for each in positions)
    return np.array([float(fold_of(f"{seed} {entity}", count)) for entity in entities])
