"""The questions that are retrieved for at a share."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.evaluator.studies.gates.choices import choices_of, top
from scaar.evaluator.studies.gates.target import Target
from scaar.evaluator.studies.gates.validation import Judged, Trained, ranks

GATE = Trained("gate", Target.WRONG)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.sampled_from([0.25, 0.5, 0.75]))
def test_the_share_is_exact_and_no_lower_score_comes_before_a_higher_one(
    scores: list[int], share: float
) -> None:
    found = top(np.array(scores, dtype=np.float64), share)
    assert found.sum() == pytest.approx(share * len(scores))
    assert ((found >= 0) & (found <= 1)).all()
    by_score = sorted(zip(scores, found, strict=True), reverse=True)
    assert all(one[1] >= other[1] - 1e-12 for one, other in pairwise(by_score))


def test_questions_that_tie_at_the_edge_have_equal_parts() -> None:
    assert top(np.array([3.0, 1.0, 1.0, 0.0]), 0.5).tolist() == [1, 0.5, 0.5, 0]


def test_ranks_are_between_0_and_1_and_tied_ones_are_equal() -> None:
    assert ranks(np.array([2.0, 1.0, 1.0, 5.0])).tolist() == [0.625, 0.25, 0.25, 0.875]


def test_choices_are_made_within_each_fold_and_averaged_over_repetitions() -> None:
    scores = np.array([[1.0, -1.0, 8.0, 9.0], [-1.0, 1.0, -3.0, 4.0]])
    groups = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]])
    found = choices_of(Judged(np.arange(4), groups, {GATE: scores}), scores)
    assert found.own.tolist() == [0.5, 0.5, 0.5, 1]
    # The better of the first two and of the last two; then of 0 and 2, and of 1 and 3.
    assert found.at[0.5].tolist() == [1, 0, 0, 1]
    assert found.ranks.shape == (4, 2)
