"""Detection of wrong drafts: how well the trigger of a policy separates them from right ones.

The drafts are those that a policy judged in its own answers, and whose truth is known.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scaar.core.triggers.rule import PROBABILITY, ThetaRange
from scaar.evaluator.records import Prediction, Question, Setting
from scaar.evaluator.statistics.detection import (
    Truths,
    auroc,
    calibration_error,
    caught,
    entity_draws,
    estimated,
    share_of_false,
    share_of_true,
)
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.statistics.table import Floats


@dataclass(frozen=True, slots=True, eq=False)
class JudgedDrafts:
    """Judged drafts whose truth is known, one per position.

    ``questions`` are the questions of the drafts. ``scores`` are those of the trigger, not a number
    for a draft that it finds uncertain at every theta or at none, as ``uncertain`` says.
    ``corrected`` says whether the accepted sentence is right.
    """

    questions: tuple[Question, ...]
    scores: Floats
    uncertain: Truths
    wrong: Truths
    retrieved: Truths
    corrected: Truths

    def of(self, kept: Sequence[bool]) -> "JudgedDrafts":
        """Return some of the drafts."""
        at = np.array(kept, dtype=bool)
        return replace(
            self,
            questions=tuple(q for q, keep in zip(self.questions, kept, strict=True) if keep),
            scores=self.scores[at],
            uncertain=self.uncertain[at],
            wrong=self.wrong[at],
            retrieved=self.retrieved[at],
            corrected=self.corrected[at],
        )


@dataclass(frozen=True, slots=True)
class Detection:
    """The detection of wrong drafts by a policy, with 95% intervals over entities.

    ``caught`` is the share of wrong drafts above the threshold that 5% of right ones exceed.
    ``over_retrieval`` is the share of right drafts that were retrieved for, ``under_retrieval`` the
    share of wrong ones that were not, and ``corrected`` the share of wrong ones whose accepted
    sentence is right. ``ece`` is the expected calibration error of scores that are probabilities.
    """

    drafts: int
    wrong: int
    auroc: Estimate
    caught: Estimate
    over_retrieval: Estimate
    under_retrieval: Estimate
    corrected: Estimate
    ece: Estimate


class JudgedDraftsBuilder:
    """Collects the judged drafts of predictions in any order, compactly."""

    def __init__(self, questions: Sequence[Question], settings: Sequence[Setting]) -> None:
        self._questions = tuple(questions)
        self._at = {each.id: at for at, each in enumerate(questions)}
        self._rows = {each.label: array("d") for each in settings}

    def add_prediction(self, prediction: Prediction) -> None:
        """Add the drafts of an answer whose truth is known."""
        rows = self._rows[prediction.setting]
        for each in prediction.decisions:
            if each.words and each.draft_right is not None:
                score = np.nan if each.score is None else each.score
                rows.extend((self._at[prediction.question_id], score, each.trigger is not None))
                rows.extend((not each.draft_right, each.query is not None, each.right is True))

    def drafts(self, setting: str) -> JudgedDrafts:
        """Return the drafts of a setting by its label."""
        rows = np.frombuffer(self._rows[setting], dtype=np.float64).reshape(-1, 6)
        uncertain, wrong, retrieved, corrected = (column > 0 for column in rows.T[2:])
        questions = tuple(self._questions[int(at)] for at in rows[:, 0])
        return JudgedDrafts(questions, rows[:, 1], uncertain, wrong, retrieved, corrected)


def detect(drafts: JudgedDrafts, theta: ThetaRange, *, seed: int = 0) -> Detection:
    """Return the detection of wrong drafts; ``theta`` is the range of the trigger's threshold."""
    wrong, falling = drafts.wrong, theta is PROBABILITY
    scores = -drafts.scores if falling else drafts.scores
    always = np.where(drafts.uncertain, np.inf, -np.inf)
    scores = np.where(np.isnan(scores), always, scores)
    samples = entity_draws([each.entity for each in drafts.questions], wrong, seed=seed)
    retrieved, corrected = (
        each.astype(np.float64) for each in (drafts.retrieved, drafts.corrected)
    )
    # A low probability is that of being right, and its negative is the score.
    chances = np.clip(1 + scores if falling else scores, 0, 1)
    return Detection(
        drafts=len(wrong),
        wrong=int(wrong.sum()),
        auroc=estimated(auroc, scores, wrong, samples),
        caught=estimated(caught, scores, wrong, samples),
        over_retrieval=estimated(share_of_false, retrieved, wrong, samples),
        under_retrieval=estimated(share_of_true, 1 - retrieved, wrong, samples),
        corrected=estimated(share_of_true, corrected, wrong, samples),
        ece=(
            estimated(calibration_error, chances, wrong, samples)
            if theta.maximum <= 1
            else Estimate(None)
        ),
    )
