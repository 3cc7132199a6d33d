import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.loop.contribution import leave_one_out, normalised

CONTRIBUTIONS = (0.02, 0.01, 0.20)
shares = st.floats(0.0, 1.0)


def test_contributions_are_normalised_to_mean_one() -> None:
    assert normalised(CONTRIBUTIONS) == pytest.approx((0.2609, 0.1304, 2.6087), abs=5e-5)
    assert normalised((0.0, 0.0)) == (1.0, 1.0)
    assert normalised(()) == ()


@given(st.lists(shares, min_size=1))
def test_normalised_contributions_have_mean_one_however_small(contributions: list[float]) -> None:
    assert math.fsum(normalised(contributions)) == pytest.approx(len(contributions))


def test_a_word_is_removed_by_its_position_with_the_space_before_it() -> None:
    full, altered = leave_one_out("Who is it?", ("He", "is", "he.", "is"))
    assert full == "Who is it? He is he. is"
    assert altered == (
        "Who is it? is he. is",
        "Who is it? He he. is",
        "Who is it? He is is",
        "Who is it? He is he.",
    )


def test_removing_a_single_word_leaves_the_question() -> None:
    assert leave_one_out("Who?", ("Scott.",)) == ("Who? Scott.", ("Who?",))
    assert leave_one_out("Who?", ()) == ("Who?", ())
