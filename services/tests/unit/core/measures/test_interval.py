from random import Random

import pytest

from scaar.core.measures.interval import interval


def test_the_interval_of_a_constant_is_the_constant() -> None:
    assert interval([0.5] * 10, range(10)) == (0.5, 0.5)


def test_the_bounds_are_those_of_the_normal_approximation_for_many_coin_tosses() -> None:
    values = [1.0] * 300 + [0.0] * 200
    low, high = interval(values, range(500), resamples=4_000)
    half = 1.96 * (0.6 * 0.4 / 500) ** 0.5
    assert low == pytest.approx(0.6 - half, abs=0.006)
    assert high == pytest.approx(0.6 + half, abs=0.006)


def test_values_of_one_cluster_count_as_one_observation() -> None:
    chance = Random(1)
    means = [chance.random() for _ in range(40)]
    values = [mean for mean in means for _ in range(25)]
    apart = interval(values, range(1_000))
    together = interval(values, [number // 25 for number in range(1_000)])
    alone = interval(means, range(40))
    assert together == pytest.approx(alone)
    assert together[1] - together[0] > 3 * (apart[1] - apart[0])


def test_more_confidence_is_a_wider_interval() -> None:
    values = [float(number % 7) for number in range(200)]
    low, high = interval(values, range(200), confidence=0.99)
    narrow = interval(values, range(200), confidence=0.5)
    assert low < narrow[0] < narrow[1] < high


def test_the_same_seed_gives_the_same_interval() -> None:
    values = [float(number % 7) for number in range(50)]
    assert interval(values, range(50), seed=3) == interval(values, range(50), seed=3)
    assert interval(values, range(50), seed=3) != interval(values, range(50), seed=4)


@pytest.mark.parametrize(("values", "clusters"), [([], []), ([1.0], [])])
def test_nothing_to_draw_from_is_refused(values: list[float], clusters: list[int]) -> None:
    with pytest.raises(ValueError, match="values and 0 clusters"):
        interval(values, clusters)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match=r"must be in \(0, 1\)"):
        interval([1.0], [0], confidence=confidence)
