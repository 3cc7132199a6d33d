import numpy as np
import pytest

from scaar.evaluator.statistics.estimate import s_eff, share


def test_the_gain_is_in_points_for_a_retrieval() -> None:
    # (0.75 - 0.30) / 1.5 retrievals is 30 points a retrieval.
    found = s_eff(np.array([0.75, 0.2]), np.array([0.3, 0.3]), np.array([1.5, 0.5]))
    assert found.tolist() == pytest.approx([30.0, -20.0])


def test_without_a_retrieval_it_is_undefined() -> None:
    assert np.isnan(s_eff(np.array([0.5]), np.array([0.3]), np.array([0.0]))[0])


def test_a_share_of_nothing_is_undefined() -> None:
    found = share(np.array([1.0, 0.0]), np.array([4.0, 0.0]))
    assert found[0] == 0.25
    assert np.isnan(found[1])
