import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.evaluator.statistics.estimate import holm

P_VALUES = st.lists(st.floats(0, 1), max_size=12)


def test_a_worked_example() -> None:
    # In rising order 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06 and 0.04, which
    # may be no less than 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_no_p_value_and_one_are_left_as_they_are() -> None:
    assert holm([]) == []
    assert holm([0.2]) == [0.2]


def test_none_passes_1() -> None:
    assert holm([0.6, 0.9]) == [1.0, 1.0]


@given(P_VALUES)
def test_none_gets_smaller_and_none_larger_than_by_bonferroni(p_values: list[float]) -> None:
    for p, adjusted in zip(p_values, holm(p_values), strict=True):
        assert p <= adjusted <= min(1.0, len(p_values) * p)


@given(P_VALUES)
def test_the_order_of_the_p_values_is_kept(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    by_p = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [adjusted[at] for at in by_p] == sorted(adjusted)


@given(P_VALUES, st.floats(0.001, 0.5))
def test_the_rejected_hypotheses_are_those_of_holms_steps(
    p_values: list[float], level: float
) -> None:
    # Holm (1979): continue while the k-th smallest of m is at most level / (m - k).
    rejected, m = set(), len(p_values)
    for k, at in enumerate(sorted(range(m), key=p_values.__getitem__)):
        if (m - k) * p_values[at] > level:
            break
        rejected.add(at)
    assert {at for at, adjusted in enumerate(holm(p_values)) if adjusted <= level} == rejected


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_an_invalid_p_value_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match=r"must be in \[0, 1\]"):
        holm([0.5, p])
