import numpy as np
import pytest

from scaar.evaluator.statistics.means import SplitMeans, SplitTable, means_of
from scaar.evaluator.statistics.selection import chosen, of_chosen

from ..simulated import Row, table_by_hand

DEVELOPMENT = table_by_hand(
    "ab",
    [Row(0.5, 2), Row(0.5, 2)],
    [Row(0.9, 3), Row(0.7, 3)],
    [Row(0.8, 1), Row(0.8, 3)],
    [Row(0.6, 2), Row(1.0, 2)],
)
TEST = table_by_hand("c", [0.1], [0.2], [0.3], [0.4])


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        ((0,), 0),
        ((0, 1), 1),  # by score
        ((1, 2), 2),  # both 0.8, of 3 and of 2 retrievals
        ((2, 3), 2),  # both 0.8 and of 2 retrievals: the first
        ((3, 2), 3),
        ((0, 1, 2, 3), 2),
    ],
)
def test_the_best_is_chosen_and_of_equals_that_of_fewer_retrievals(
    candidates: tuple[int, ...], expected: int
) -> None:
    assert chosen(means_of(DEVELOPMENT), candidates, measure="f1").tolist() == [expected]


def test_a_choice_on_one_split_is_reported_on_the_other() -> None:
    means = SplitMeans(means_of(DEVELOPMENT), means_of(TEST))
    found = of_chosen(means, (0, 1, 2), column="f1", measure="f1")
    assert found.tolist() == [pytest.approx(0.3)]


def test_the_choice_is_made_anew_in_every_draw() -> None:
    table = table_by_hand("abcdef", [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1.1])
    drawn = SplitTable(table, table_by_hand("g", [0.0], [1.0]), apart=True).means(
        seed=1, resamples=100
    )
    picked = chosen(drawn.development, (0, 1), measure="f1")
    assert set(picked.tolist()) == {0, 1}
    reported = of_chosen(drawn, (0, 1), column="f1", measure="f1")
    assert np.array_equal(reported, picked.astype(float))


def test_a_choice_on_the_reported_questions_is_optimistic_and_splits_are_not() -> None:
    # Twenty settings that are all worth 0.5 on 60 questions.
    chance = np.random.default_rng(4)
    apart, same = [], []
    for _ in range(100):
        rows = (chance.random((2, 20, 60)) < 0.5).astype(float).tolist()
        names = [f"e{n:02d}" for n in range(60)]
        halves = [means_of(table_by_hand(names, *half)) for half in rows]
        every = tuple(range(20))
        apart.append(of_chosen(SplitMeans(*halves), every, column="f1", measure="f1")[0])
        flattered = SplitMeans(halves[0], halves[0])
        same.append(of_chosen(flattered, every, column="f1", measure="f1")[0])
    assert np.mean(apart) == pytest.approx(0.5, abs=0.02)
    assert np.mean(same) > 0.58
