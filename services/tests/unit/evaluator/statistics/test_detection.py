import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.evaluator.statistics.detection import (
    auroc,
    calibration_error,
    caught,
    entity_draws,
    estimated,
    share_of_false,
    share_of_true,
)

NO = np.zeros(0)
CASES = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=40)


def test_the_share_caught_is_that_worked_by_hand() -> None:
    false, true = np.arange(40.0), np.array([39.5, 37.5, 36.5, 10.0])
    scores = np.concatenate([false, true])
    truths = np.array([False] * 40 + [True] * 4)
    # Two of the 40 false cases may be above the threshold.
    assert caught(scores, truths) == 0.5
    ties = np.array([1.0] * 20 + [1.0, 2.0])
    assert caught(ties, np.array([False] * 20 + [True] * 2)) == pytest.approx((1 + 0.05) / 2)


def test_a_measure_without_true_or_false_cases_is_undefined() -> None:
    for truths in (np.array([True, True]), np.array([False, False]), NO.astype(bool)):
        assert math.isnan(caught(np.zeros(len(truths)), truths))
        assert estimated(auroc, np.zeros(len(truths)), truths, ()).value is None
    assert math.isnan(calibration_error(NO, NO.astype(bool)))


@given(CASES)
def test_the_share_caught_rises_with_the_order(cases: list[tuple[int, bool]]) -> None:
    scores = np.array([float(score) for score, _ in cases])
    truths = np.array([truth for _, truth in cases])
    share = caught(scores, truths)
    if math.isnan(share):
        assert truths.all() or not truths.any()
        return
    assert 0 <= share <= 1
    assert caught(np.where(truths, scores + 10, scores), truths) == 1.0
    assert caught(np.zeros(len(cases)), truths) == pytest.approx(0.05)


def test_the_calibration_error_is_that_worked_by_hand() -> None:
    truths = np.array([True, False, False, False, True])
    assert calibration_error(np.array([0.95, 0.05, 0.05, 0.05, 1.0]), truths) == pytest.approx(
        (0.05 + 3 * 0.05) / 5
    )
    assert calibration_error(truths * 1.0, truths) == 0.0


def test_shares_are_of_the_true_or_of_the_false_cases() -> None:
    flags, truths = np.array([1.0, 0.0, 1.0, 0.0]), np.array([True, True, False, False])
    assert share_of_true(flags, truths) == 0.5
    assert share_of_false(np.array([1.0, 0.0, 0.0, 0.0]), truths) == 0.0
    assert math.isnan(share_of_true(flags, np.zeros(4, dtype=bool)))


def test_samples_keep_the_cases_of_an_entity_together() -> None:
    truths = np.array([True, False, True, False])
    for sample in entity_draws(["a", "a", "b", "b"], truths):
        assert sorted(np.bincount(sample, minlength=4).tolist()) in ([0, 0, 2, 2], [1, 1, 1, 1])
    found = estimated(auroc, np.array([1.0, 0.0, 1.0, 2.0]), truths, entity_draws("aabb", truths))
    assert found.value == pytest.approx(0.5)
    assert (found.low, found.high) == (0.0, 1.0)
