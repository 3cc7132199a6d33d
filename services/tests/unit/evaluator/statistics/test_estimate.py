import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scaar.evaluator.statistics.estimate import Estimate, difference, estimate, p_value
from scaar.evaluator.statistics.means import resampled_means

from ..simulated import table_by_hand

UNDEFINED = float("nan")


def test_the_interval_leaves_out_as_much_on_either_side() -> None:
    samples = np.arange(101, dtype=float)
    found = estimate(np.append(50.0, samples), confidence=0.9)
    assert (found.value, found.low, found.high) == pytest.approx((50.0, 5.0, 95.0))


def test_an_undefined_statistic_has_no_value_and_no_interval() -> None:
    assert estimate(np.append(UNDEFINED, np.ones(10))) == Estimate(None)


def test_a_statistic_undefined_in_more_than_a_sample_of_twenty_has_no_interval() -> None:
    statistic = np.ones(101)
    statistic[1:6] = UNDEFINED
    assert estimate(statistic) == Estimate(1.0, 1.0, 1.0)
    statistic[6] = UNDEFINED
    assert estimate(statistic) == Estimate(1.0)
    assert difference(statistic) == Estimate(1.0)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_a_confidence_outside_0_and_1_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        estimate(np.ones(11), confidence=confidence)


def test_the_p_value_counts_the_samples_beyond_0() -> None:
    # 3 of 99 samples are at or below 0: twice (1 + 3) / (1 + 99).
    samples = np.concatenate((np.array([-1.0, -0.5, 0.0]), np.ones(96)))
    assert p_value(samples) == pytest.approx(0.08)
    assert p_value(-samples) == pytest.approx(0.08)


def test_no_difference_has_p_1_and_the_number_of_samples_bounds_p() -> None:
    assert p_value(np.zeros(99)) == 1.0
    assert p_value(np.ones(99)) == pytest.approx(0.02)


def test_the_p_value_of_a_paired_mean_is_that_of_the_paired_t_test() -> None:
    chance = np.random.default_rng(3)
    first = chance.normal(0.5, 0.2, 400)
    second = first + chance.normal(0.012, 0.1, 400)
    table = table_by_hand([f"e{n:03d}" for n in range(400)], first.tolist(), second.tolist())
    means = resampled_means(table, seed=1, resamples=20_000).of("f1")
    found = difference(means[:, 1] - means[:, 0])
    expected = stats.ttest_rel(second, first)
    assert found.p == pytest.approx(expected.pvalue, abs=0.01)
    low, high = expected.confidence_interval()
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.001)


@given(st.integers(0, 1_000), st.floats(0.5, 1.0))
def test_pairing_narrows_the_interval_of_correlated_scores(seed: int, shared: float) -> None:
    chance = np.random.default_rng(seed)
    level = chance.normal(size=60)
    rows = [(shared * level + (1 - shared) * chance.normal(size=60)).tolist() for _ in range(2)]
    table = table_by_hand([f"e{n:02d}" for n in range(60)], *rows)
    paired = resampled_means(table, seed=1, resamples=200).of("f1")
    apart = resampled_means(table, seed=2, resamples=200).of("f1")
    assert np.var(paired[:, 1] - paired[:, 0]) < np.var(apart[:, 1] - paired[:, 0])
