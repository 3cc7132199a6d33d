import numpy as np
import pytest

from scaar.evaluator.studies.tuning.selection import (
    chosen,
    clustered_mean,
    near_best,
    standard_error,
)

CLUSTERS = [f"film {at // 2}" for at in range(400)]


def qualities(*means: float) -> np.ndarray:
    """Rows of zeros and ones with these means, spread evenly."""
    at = np.arange(400)
    return np.array([((at * 37) % 400 < mean * 400).astype(float) for mean in means])


def test_the_simplest_candidate_within_one_standard_error_of_the_best_is_chosen() -> None:
    rows = qualities(0.90, 0.79, 0.895, 0.899)
    error = standard_error(rows[0], CLUSTERS)
    assert 0.005 < error < 0.03
    assert near_best(rows, CLUSTERS) == [True, False, True, True]
    # The simplest one is too bad; of two equally simple ones the better is chosen.
    assert chosen(rows, CLUSTERS, [3, 0, 1, 1]) == 3
    assert chosen(rows, CLUSTERS, [3, 0, 1, 2]) == 2
    assert chosen(rows, CLUSTERS, [0, 0, 1, 1]) == 0


def test_repeated_questions_about_an_entity_do_not_reduce_the_standard_error() -> None:
    values = qualities(0.7)[0]
    single = [str(at) for at in range(400)]
    twice = np.repeat(values, 2)
    repeated = [each for each in single for _ in range(2)]
    assert standard_error(twice, repeated) == pytest.approx(standard_error(values, single))
    assert standard_error(values, ["one"] * 400) == 0.0


def test_the_interval_of_a_mean_agrees_with_its_standard_error() -> None:
    values = qualities(0.7)[0]
    found = clustered_mean(values, CLUSTERS)
    assert found.value == pytest.approx(0.7)
    assert found.low is not None
    assert found.high is not None
    width = (found.high - found.low) / (2 * 1.96)
    assert width == pytest.approx(standard_error(values, CLUSTERS), rel=0.1)
