import numpy as np
import pytest

from scaar.evaluator.statistics.matched import (
    SEARCHES,
    TOKENS,
    area,
    common_range,
    frontier,
    long_enough,
    matched,
)
from scaar.evaluator.statistics.means import SplitMeans, means_of

from ..simulated import Row, table_by_hand

# Three settings at 0, 1 and 2 retrievals; on the development half the middle one is on the hull.
DEVELOPMENT = table_by_hand("ab", [Row(0.2, 0)] * 2, [Row(0.6, 1)] * 2, [Row(0.8, 2)] * 2)
TEST = table_by_hand("cd", [Row(0.1, 0)] * 2, [Row(0.3, 1)] * 2, [Row(0.7, 2)] * 2)
HALVED = SplitMeans(means_of(DEVELOPMENT), means_of(TEST))
ALL = (0, 1, 2)


def test_settings_are_chosen_on_one_split_and_measured_on_the_other() -> None:
    # On the test half the middle setting lies below the line from 0 to 2, and is on it still.
    assert matched(HALVED, ALL, 1.0, measure="f1")[0] == pytest.approx(0.3)
    assert matched(HALVED, ALL, 1.5, measure="f1")[0] == pytest.approx(0.5)
    same = SplitMeans(HALVED.test, HALVED.test)
    assert matched(same, ALL, 1.0, measure="f1")[0] == pytest.approx(0.4)


def test_a_budget_out_of_range_is_not_extrapolated() -> None:
    assert np.isnan(matched(HALVED, (1, 2), 0.5, measure="f1")[0])
    assert np.isnan(matched(HALVED, (0, 1), 1.5, measure="f1")[0])
    assert matched(HALVED, (1,), 1.0, measure="f1")[0] == pytest.approx(0.3)


def test_the_common_range_is_covered_by_all_frontiers() -> None:
    lines = [frontier(HALVED, each, measure="f1", spent=SEARCHES) for each in (ALL, (1, 2))]
    low, high = common_range(lines)
    assert (low[0], high[0]) == (1.0, 2.0)
    none, there = common_range([*lines, frontier(HALVED, (0, 1), measure="f1", spent=SEARCHES)])
    assert none[0] == there[0]


def test_the_area_is_over_the_range_common_to_all() -> None:
    def area_of(candidates: tuple[int, ...]) -> float:
        among = (ALL, (0, 2), (1, 2))
        found = area(HALVED, candidates, among=among, measure="f1", spent=SEARCHES)
        return float(found[0])

    # From 1 to 2: the line from 0.3 to 0.7, and that from 0.4 to 0.7.
    assert area_of(ALL) == pytest.approx(0.5)
    assert area_of((0, 2)) == pytest.approx(0.55)
    assert np.isnan(area_of((0, 1)))


def test_tokens_read_and_written_count_together() -> None:
    line = frontier(HALVED, ALL, measure="f1", spent=TOKENS)
    assert line.spent.tolist() == [[0.0, 0.0, 0.0]]
    assert means_of(TEST).of("prompt_tokens").tolist() == [[0.0, 0.0, 0.0]]


def test_a_frontier_far_shorter_than_another_does_not_narrow_the_range() -> None:
    table = table_by_hand(
        "abcdefgh",
        [Row(0.1, 0)] * 8,
        [Row(0.7, 2)] * 8,
        [Row(0.3, 1)] * 8,
        [Row(0.5, 1)] * 7 + [Row(0.5, 2)],
    )
    means = SplitMeans(means_of(table), means_of(table))
    lines = [frontier(means, each, measure="f1", spent=SEARCHES) for each in ((0, 1), (2, 3), (2,))]
    assert long_enough(lines) == [True, False, False]
