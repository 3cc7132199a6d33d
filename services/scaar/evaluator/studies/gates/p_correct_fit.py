"""The fit of calibrated P(correct), and its calibration out of fold.

Questions about one entity are in one fold.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scaar.core.gates.p_correct import (
    FEW,
    THRESHOLD,
    AnswerSignal,
    Curve,
    IsotonicCurve,
    Logprobs,
    PCorrectGate,
    PlattCurve,
)
from scaar.core.gates.p_correct_json import PLATT
from scaar.evaluator.statistics.detection import (
    Truths,
    auroc,
    calibration_error,
    entity_draws,
    estimated,
)
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.statistics.regression import fit_logistic
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.gates.closed_book import LabelledQuestions
from scaar.evaluator.studies.tuning.folds import FOLDS

CURVES = (PLATT, "isotonic")
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class FittedPCorrect:
    """A gate, the AUROC of wrong answers, and the expected calibration errors.

    ``before`` is the error of exp(signal), ``after`` that of the curve. AUROC and ``after`` are
    those of curves that are fitted to the other folds.
    """

    gate: PCorrectGate
    auroc: Estimate
    before: Estimate
    after: Estimate


def fit_p_correct(
    labelled: LabelledQuestions,
    answers: Sequence[Logprobs],
    *,
    signal: AnswerSignal,
    kind: str,
    abstain_below: float,
    tokens: int,
    few_above: float = 1.0,
    few: int = FEW,
    seed: int = 0,
) -> FittedPCorrect:
    """Fit a curve to the signals of the answers, given by their log-probabilities in order."""
    known = [signal.of(each) for each in answers]
    # An answer without a known signal is as uncertain as the most uncertain one.
    lowest = min((each for each in known if each is not None), default=0.0)
    signals = np.array([lowest if each is None else each for each in known])
    right, folds = ~labelled.truths, labelled.folds()
    after = np.zeros(len(signals))
    for fold in range(FOLDS):
        test = folds == fold
        curve = fit_curve(signals[~test], right[~test], kind=kind)
        after[test] = [curve.probability(each) for each in signals[test]]
    samples = entity_draws([each.entity for each in labelled.questions], right, seed=seed)
    gate = PCorrectGate(
        "",
        labelled.model,
        signal,
        fit_curve(signals, right, kind=kind),
        THRESHOLD,
        abstain_below,
        tokens,
        few_above,
        few,
    )
    return FittedPCorrect(
        gate,
        auroc=estimated(auroc, 1 - after, ~right, samples),
        before=estimated(calibration_error, np.exp(signals), right, samples),
        after=estimated(calibration_error, after, right, samples),
    )


def fit_curve(signals: Floats, right: Truths, *, kind: str) -> Curve:
    """Return the curve of a kind; its slope is never negative."""
    return _platt(signals, right) if kind == PLATT else isotonic(signals, right)


def _platt(signals: Floats, right: Truths) -> PlattCurve:
    """Return Platt's curve, with his targets, which keep the slope finite."""
    count = int(right.sum())
    high, low = (count + 1) / (count + 2), 1 / (len(right) - count + 2)
    targets = np.where(right, high, low)
    intercept, (slope,) = fit_logistic(signals[:, None], targets, penalty=0.0).unscaled()
    if slope < 0:
        share = float(targets.mean())
        return PlattCurve(0.0, round(math.log(share / (1 - share)), _DIGITS))
    return PlattCurve(round(slope, _DIGITS), round(intercept, _DIGITS))


def isotonic(signals: Floats, right: Truths) -> IsotonicCurve:
    """Return the isotonic regression by pooling adjacent violators; equal signals are pooled."""
    starts: list[float] = []
    sums: list[float] = []
    counts: list[int] = []
    for signal in np.unique(signals):
        at = signals == signal
        starts.append(float(signal))
        sums.append(float(right[at].sum()))
        counts.append(int(at.sum()))
        while len(sums) > 1 and sums[-2] * counts[-1] >= sums[-1] * counts[-2]:
            starts.pop()
            total, count = sums.pop(), counts.pop()
            sums[-1] += total
            counts[-1] += count
    shares = (total / count for total, count in zip(sums, counts, strict=True))
    return IsotonicCurve(tuple(starts), tuple(shares))
