"""The fit of calibrated P(correct) to answers whose truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.gates.fitted_model import FittedModel
from scaar.core.gates.p_correct import AnswerSignal, PlattCurve
from scaar.evaluator.records import Question
from scaar.evaluator.studies.gates.closed_book import LabelledQuestions
from scaar.evaluator.studies.gates.p_correct_fit import (
    CURVES,
    FittedPCorrect,
    fit_curve,
    fit_p_correct,
    isotonic,
)

COUNT = 400


def sample() -> tuple[LabelledQuestions, list[list[float]]]:
    """Return questions with answers that are right with the probability sigmoid(3 s + 3)."""
    chance = np.random.default_rng(5)
    signals = -2 * chance.random(COUNT)
    wrong = chance.random(COUNT) >= 1 / (1 + np.exp(-(3 * signals + 3)))
    questions = tuple(Question(f"q{at}", "Who?", ("Ada",), f"e{at}") for at in range(COUNT))
    labelled = LabelledQuestions(questions, tuple(wrong.tolist()), FittedModel("lm", "r1"), {})
    return labelled, [[float(each)] for each in signals]


def fitted(kind: str) -> FittedPCorrect:
    labelled, answers = sample()
    return fit_p_correct(
        *(labelled, answers),
        signal=AnswerSignal.MEAN_SURPRISAL,
        kind=kind,
        abstain_below=0.2,
        tokens=64,
    )


@pytest.mark.parametrize("kind", CURVES)
def test_the_curve_lowers_the_calibration_error_and_the_fit_is_reproducible(kind: str) -> None:
    found = fitted(kind)
    assert found == fitted(kind)
    assert (found.gate.abstain_below, found.gate.threshold, found.gate.tokens) == (0.2, 0.5, 64)
    assert found.before.low is not None
    assert found.after.value is not None
    assert found.after.value < found.before.low
    assert found.auroc.low is not None
    assert found.auroc.low > 0.7
    curve = found.gate.curve
    assert curve.probability(-1.0) == pytest.approx(0.5, abs=0.15)
    assert curve.probability(-0.1) == pytest.approx(0.94, abs=0.1)


@given(st.lists(st.tuples(st.integers(-4, 0), st.booleans()), min_size=1, max_size=12))
def test_isotonic_regression_is_the_best_rising_step_function(
    cases: list[tuple[int, bool]],
) -> None:
    signals = np.array([float(each) for each, _ in cases])
    right = np.array([each for _, each in cases])
    curve = isotonic(signals, right)
    values = np.array([curve.probability(each) for each in signals])
    assert list(curve.probabilities) == sorted(curve.probabilities)
    # The minimax formula: the largest mean from some lower signal to some higher one.
    for signal, value in zip(signals, values, strict=True):
        means = [
            min(
                right[(signals >= low) & (signals <= high)].mean()
                for high in signals[signals >= signal]
            )
            for low in signals[signals <= signal]
        ]
        assert value == pytest.approx(max(means))


def test_a_signal_that_is_higher_for_wrong_answers_gives_a_flat_curve() -> None:
    right = np.array([True] * 30 + [False] * 10)
    signals = np.where(right, -2.0, -1.0)
    found = fit_curve(signals, right, kind="platt")
    assert isinstance(found, PlattCurve)
    assert found.slope == 0
    assert found.probability(-1.0) == pytest.approx(0.75, abs=0.03)
