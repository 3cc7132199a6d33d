import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from scaar.evaluator.statistics.frontier import mean_height, score_at, upper_hull
from scaar.evaluator.statistics.table import Floats

# (0, 0.2), (1, 0.6), (1, 0.5), (2, 0.5), (3, 0.8): the hull goes over (1, 0.6) to (3, 0.8).
SPENT = np.array([[0.0, 1.0, 1.0, 2.0, 3.0]])
SCORES = np.array([[0.2, 0.6, 0.5, 0.5, 0.8]])
POINTS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=9)


def _arrays(points: list[tuple[int, int]]) -> tuple[Floats, Floats]:
    return (
        np.array([[float(x) for x, _ in points]]),
        np.array([[float(y) for _, y in points]]),
    )


def test_the_hull_goes_over_the_settings_that_no_mixture_beats() -> None:
    assert upper_hull(SPENT, SCORES).tolist() == [[True, True, False, False, True]]


def test_the_score_between_two_settings_is_that_of_their_mixture() -> None:
    on = upper_hull(SPENT, SCORES)
    for at, expected in ((0.0, 0.2), (0.5, 0.4), (1.0, 0.6), (1.5, 0.65), (2.0, 0.7), (3.0, 0.8)):
        assert score_at(SPENT, SCORES, on, at=at)[0] == pytest.approx(expected)


def test_the_frontier_ends_at_the_cheapest_and_the_most_expensive_setting() -> None:
    spent, scores = np.array([[0.4, 1.6]]), np.array([[0.3, 0.9]])
    on = upper_hull(spent, scores)
    for at in (0.0, 0.39, 1.61, 2.0):
        assert np.isnan(score_at(spent, scores, on, at=at)[0])
    assert score_at(spent, scores, on, at=1.6)[0] == pytest.approx(0.9)


def test_a_single_setting_is_reached_where_it_is_and_nowhere_else() -> None:
    one, score = np.array([[1.0]]), np.array([[0.7]])
    on = upper_hull(one, score)
    assert score_at(one, score, on, at=1.0)[0] == pytest.approx(0.7)
    assert np.isnan(score_at(one, score, on, at=0.5)[0])
    assert np.isnan(mean_height(one, score, on, low=np.array([1.0]), high=np.array([1.0]))[0])


def test_a_policy_that_never_retrieves_has_its_best_setting_at_0() -> None:
    spent, scores = np.zeros((1, 3)), np.array([[0.1, 0.4, 0.3]])
    on = upper_hull(spent, scores)
    assert on.tolist() == [[False, True, False]]
    assert score_at(spent, scores, on, at=0.0)[0] == pytest.approx(0.4)


def test_the_mean_height_is_the_area_over_the_distance() -> None:
    # From 0.5 to 1 the trapezium of 0.4 and 0.6, from 1 to 2 that of 0.6 and 0.7: 0.25 + 0.65.
    on = upper_hull(SPENT, SCORES)
    found = mean_height(SPENT, SCORES, on, low=np.array([0.5]), high=np.array([2.0]))
    assert found[0] == pytest.approx(0.9 / 1.5)


def test_an_empty_or_uncovered_range_has_no_area() -> None:
    on = upper_hull(SPENT, SCORES)
    for low, high in ((-0.1, 2.0), (0.5, 3.1), (1.0, 1.0), (2.0, 1.0)):
        found = mean_height(SPENT, SCORES, on, low=np.array([low]), high=np.array([high]))
        assert np.isnan(found[0])


def test_settings_chosen_on_another_split_make_a_line_in_the_order_of_cost() -> None:
    # As when a half puts the settings of another half's hull in another order.
    spent, scores = np.array([[2.0, 1.0, 3.0]]), np.array([[0.6, 0.7, 0.5]])
    on = np.array([[True, True, False]])
    assert score_at(spent, scores, on, at=1.5)[0] == pytest.approx(0.65)
    assert np.isnan(score_at(spent, scores, on, at=2.5)[0])


@given(POINTS)
def test_no_setting_and_no_mixture_of_two_is_above_the_line(points: list[tuple[int, int]]) -> None:
    spent, scores = _arrays(points)
    on = upper_hull(spent, scores)
    for x0, y0 in points:
        for x1, y1 in points:
            for part in (0.0, 0.25, 1.0):
                x, y = x0 + part * (x1 - x0), y0 + part * (y1 - y0)
                assert score_at(spent, scores, on, at=x)[0] >= y - 1e-9


@given(POINTS)
def test_every_vertex_is_one_of_the_convex_hull_that_scipy_finds(
    points: list[tuple[int, int]],
) -> None:
    # A floor under the points makes scipy's hull, which goes all around, have our line on top.
    spent, scores = _arrays(points)
    ours = {points[at] for at in np.flatnonzero(upper_hull(spent, scores)[0])}
    floor = [(min(x for x, _ in points), -9), (max(x for x, _ in points) + 1, -9)]
    theirs = ConvexHull(np.array([*points, *floor], dtype=float)).vertices
    assert ours <= {(*points, *floor)[at] for at in theirs}


@given(POINTS, POINTS)
def test_samples_are_independent(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    size = min(len(first), len(second))
    apart = [_arrays(points[:size]) for points in (first, second)]
    spent, scores = (np.concatenate(each) for each in zip(*apart, strict=True))
    together = upper_hull(spent, scores)
    assert together.tolist() == [upper_hull(*each)[0].tolist() for each in apart]
    found = score_at(spent, scores, together, at=3.0)
    for at, each in enumerate(apart):
        alone = score_at(*each, upper_hull(*each), at=3.0)
        assert found[at] == pytest.approx(alone[0], nan_ok=True)


@given(POINTS, st.integers(-3, 3))
def test_a_constant_added_to_every_score_lifts_the_line(
    points: list[tuple[int, int]], constant: int
) -> None:
    spent, scores = _arrays(points)
    low, high = spent.min(axis=1), spent.max(axis=1)
    on, lifted = upper_hull(spent, scores), upper_hull(spent, scores + constant)
    assert np.array_equal(on, lifted)
    found = mean_height(spent, scores + constant, on, low=low, high=high)
    assert found == pytest.approx(
        mean_height(spent, scores, on, low=low, high=high) + constant, nan_ok=True
    )
