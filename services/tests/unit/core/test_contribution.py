import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.contribution import judge_words, leave_one_out, normalised, thresholds
from scaar.core.errors import ScaarError
from scaar.core.types import JudgedWord, Weighting
from scaar.core.words import split_words

SENTENCE = split_words("Scott is American")
PROBABILITIES = (0.95, 0.99, 0.85)
CONTRIBUTIONS = (0.02, 0.01, 0.20)

shares = st.floats(0.0, 1.0)
thetas = st.floats(0.0, 1.0, exclude_min=True)


def judge(
    weighting: Weighting,
    probabilities: Sequence[float | None] = PROBABILITIES,
    contributions: Sequence[float] | None = CONTRIBUTIONS,
    theta: float = 0.8,
    theta_cap: float = 1.0,
) -> tuple[JudgedWord, ...]:
    return judge_words(
        split_words(" ".join("abcdefghijklmnopqrst"[: len(probabilities)])),
        probabilities,
        contributions,
        weighting=weighting,
        theta=theta,
        theta_cap=theta_cap,
    )


def values(
    weighting: Weighting, contributions: Sequence[float] | None, theta: float = 0.8
) -> list[float]:
    count = len(contributions or ())
    limits = thresholds(contributions, count=count, weighting=weighting, theta=theta, theta_cap=1.0)
    return [value for value, _ in limits]


@pytest.mark.parametrize(
    ("weighting", "expected"),
    [
        (Weighting.EXP_RAW, (0.8162, 0.8080, 0.9771)),
        (Weighting.SURPRISAL, (0.4251, 0.1807, 0.9180)),
    ],
)
def test_the_worked_example_triggers_on_american_alone(
    weighting: Weighting, expected: tuple[float, ...]
) -> None:
    judged = judge_words(
        SENTENCE, PROBABILITIES, CONTRIBUTIONS, weighting=weighting, theta=0.8, theta_cap=1.0
    )
    assert [word.threshold for word in judged] == pytest.approx(expected, abs=5e-5)
    assert [word.text for word in judged if word.uncertain] == ["American"]
    assert [word.contribution for word in judged] == list(CONTRIBUTIONS)
    assert [(word.start, word.end) for word in judged] == [(0, 5), (6, 8), (9, 17)]


def test_contributions_are_normalised_to_mean_one() -> None:
    assert normalised(CONTRIBUTIONS) == pytest.approx((0.2609, 0.1304, 2.6087), abs=5e-5)
    assert normalised((0.0, 0.0)) == (1.0, 1.0)
    assert normalised(()) == ()


@given(st.lists(shares, min_size=1))
def test_normalised_contributions_have_mean_one_however_small(contributions: list[float]) -> None:
    assert math.fsum(normalised(contributions)) == pytest.approx(len(contributions))


@given(st.lists(st.tuples(shares, shares), max_size=20), thetas)
def test_at_equal_theta_the_exp_raw_trigger_contains_flares(
    words: list[tuple[float, float]], theta: float
) -> None:
    probabilities = [probability for probability, _ in words]
    plain = judge(Weighting.NONE, probabilities, None, theta)
    raised = judge(Weighting.EXP_RAW, probabilities, [r for _, r in words], theta)
    assert all(ours.uncertain for flare, ours in zip(plain, raised, strict=True) if flare.uncertain)


@pytest.mark.parametrize("weighting", [Weighting.EXP_RAW, Weighting.SURPRISAL])
@given(contributions=st.lists(shares, min_size=1), theta=thetas)
def test_thresholds_rise_with_contributions_and_stay_in_range(
    weighting: Weighting, contributions: list[float], theta: float
) -> None:
    ascending = values(weighting, sorted(contributions), theta)
    assert ascending == sorted(ascending)
    assert all(0.0 <= value <= 1.0 for value in ascending)


@given(shares, thetas)
def test_surprisal_keeps_theta_where_all_words_contribute_alike(r: float, theta: float) -> None:
    assert values(Weighting.SURPRISAL, [r, r, r], theta) == pytest.approx([theta] * 3)


def test_surprisal_neither_overflows_nor_divides_by_zero() -> None:
    assert values(Weighting.SURPRISAL, [5e-324, 1.0], 1e-300) == [0.0, pytest.approx(1e-150)]
    assert values(Weighting.SURPRISAL, [5e-324, 1.0], 1.0) == [1.0, 1.0]


def test_a_word_of_no_contribution_never_triggers_under_surprisal() -> None:
    for theta in (0.8, 1.0):
        judged = judge(Weighting.SURPRISAL, (0.0, None, 0.99), (0.0, 0.0, 0.5), theta)
        assert [word.uncertain for word in judged[:2]] == [False, False]


@pytest.mark.parametrize("weighting", list(Weighting))
def test_an_unknown_probability_counts_as_zero(weighting: Weighting) -> None:
    unknown, _ = judge(weighting, (None, 1.0), (1e-9, 0.5))
    assert unknown.uncertain
    assert unknown.probability is None


def test_the_cap_sets_the_threshold_above_it_and_says_so() -> None:
    judged = judge(Weighting.EXP_RAW, (0.98, 0.98, 0.995), (0.0, 0.5, 0.5), theta_cap=0.99)
    assert [word.capped for word in judged] == [False, True, True]
    assert [word.threshold for word in judged[1:]] == [0.99, 0.99]
    assert [word.uncertain for word in judged] == [False, True, False]


def test_a_word_capped_at_one_triggers_whatever_its_probability() -> None:
    capped, sure = judge(Weighting.EXP_RAW, (1.0, 1.0), (1.0, 0.0))
    assert (capped.capped, capped.threshold, capped.uncertain) == (True, 1.0, True)
    assert (sure.capped, sure.uncertain) == (False, False)


def test_a_lower_cap_spares_a_certain_word() -> None:
    nearly, certain = judge(Weighting.EXP_RAW, (0.98, 1.0), (1.0, 1.0), theta_cap=0.99)
    assert (nearly.uncertain, certain.uncertain) == (True, False)


def test_contributions_outside_the_range_are_clamped_to_it() -> None:
    judged = judge(Weighting.EXP_RAW, (0.9, 0.9), (-0.1, 1.5))
    assert [word.contribution for word in judged] == [0.0, 1.0]
    assert judged[0].threshold == pytest.approx(0.8)


@pytest.mark.parametrize("weighting", [Weighting.EXP_RAW, Weighting.SURPRISAL])
@pytest.mark.parametrize("contributions", [None, (0.1, 0.2), (0.1, 0.2, math.nan)])
def test_contributions_that_cannot_be_used_are_refused(
    weighting: Weighting, contributions: tuple[float, ...] | None
) -> None:
    with pytest.raises(ScaarError, match="contribution"):
        judge(weighting, PROBABILITIES, contributions)


def test_without_weighting_every_word_has_theta_and_carries_what_was_scored() -> None:
    assert {word.threshold for word in judge(Weighting.NONE)} == {0.8}
    assert [word.contribution for word in judge(Weighting.NONE)] == list(CONTRIBUTIONS)
    plain = judge(Weighting.NONE, contributions=None)
    assert [word.contribution for word in plain] == [None, None, None]


def test_no_words_are_judged_to_none() -> None:
    assert judge(Weighting.SURPRISAL, (), ()) == ()


def test_a_word_is_left_out_by_its_position_with_the_space_before_it() -> None:
    full, altered = leave_one_out("Who is it?", ("He", "is", "he.", "is"))
    assert full == "Who is it? He is he. is"
    assert altered == (
        "Who is it? is he. is",
        "Who is it? He he. is",
        "Who is it? He is is",
        "Who is it? He is he.",
    )


def test_a_single_word_left_out_leaves_the_question() -> None:
    assert leave_one_out("Who?", ("Scott.",)) == ("Who? Scott.", ("Who?",))
    assert leave_one_out("Who?", ()) == ("Who?", ())
