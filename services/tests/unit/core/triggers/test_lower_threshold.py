"""The triggers that compare probabilities with thresholds."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import ScaarError
from scaar.core.evidence import Evidence
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.text.words import split_words
from scaar.core.triggers import TRIGGERS, Judgement
from scaar.core.types import JudgedWord, PolicyOverrides, PolicyRequest, Token, Word
from scaar.testing.fakes import SCRIPTED_MODEL

SENTENCE = split_words("Scott is American")
PROBABILITIES = (0.95, 0.99, 0.85)
CONTRIBUTIONS = (0.02, 0.01, 0.20)
BY_CONTRIBUTION = ("exp_raw", "surprisal")

shares = st.floats(0.0, 1.0)
thetas = st.floats(0.0, 1.0, exclude_min=True)


def judged(
    trigger: str,
    words: Sequence[Word],
    probabilities: Sequence[float | None],
    contributions: Sequence[float] | None,
    theta: float = 0.8,
    theta_cap: float | None = None,
) -> Judgement:
    """The judgement of words of a token each; a probability of 0 has no logarithm."""
    overrides = PolicyOverrides(trigger=trigger, theta=theta, theta_cap=theta_cap)
    policy = effective_policy(PolicyRequest("scaar", overrides), SCRIPTED_MODEL)
    tokens = tuple(
        Token(0, word.text, word.start, word.end, math.log(probability) if probability else None)
        for word, probability in zip(words, probabilities, strict=True)
    )
    given = None if contributions is None else tuple(contributions)
    return TRIGGERS[trigger].judge(Evidence(tuple(words), tokens, given), policy)


def judge(
    trigger: str,
    probabilities: Sequence[float | None] = PROBABILITIES,
    contributions: Sequence[float] | None = CONTRIBUTIONS,
    theta: float = 0.8,
    theta_cap: float | None = None,
) -> tuple[JudgedWord, ...]:
    words = split_words(" ".join("abcdefghijklmnopqrst"[: len(probabilities)]))
    return judged(trigger, words, probabilities, contributions, theta, theta_cap).words


def values(trigger: str, contributions: Sequence[float], theta: float = 0.8) -> list[float]:
    return [
        word.threshold for word in judge(trigger, [0.5] * len(contributions), contributions, theta)
    ]


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        ("exp_raw", (0.8162, 0.8080, 0.9771)),
        ("surprisal", (0.4251, 0.1807, 0.9180)),
    ],
)
def test_the_worked_example_triggers_on_american_alone(
    trigger: str, expected: tuple[float, ...]
) -> None:
    found = judged(trigger, SENTENCE, PROBABILITIES, CONTRIBUTIONS)
    assert found.trigger == 2
    assert [word.threshold for word in found.words] == pytest.approx(expected, abs=5e-5)
    assert [word.text for word in found.words if word.uncertain] == ["American"]
    assert [word.contribution for word in found.words] == list(CONTRIBUTIONS)
    assert [(word.start, word.end) for word in found.words] == [(0, 5), (6, 8), (9, 17)]


@given(st.lists(st.tuples(shares, shares), max_size=20), thetas)
def test_at_equal_theta_the_exp_raw_trigger_contains_flares(
    words: list[tuple[float, float]], theta: float
) -> None:
    probabilities = [probability for probability, _ in words]
    plain = judge("flare", probabilities, None, theta)
    raised = judge("exp_raw", probabilities, [r for _, r in words], theta)
    assert all(ours.uncertain for flare, ours in zip(plain, raised, strict=True) if flare.uncertain)


@pytest.mark.parametrize("trigger", BY_CONTRIBUTION)
@given(contributions=st.lists(shares, min_size=1, max_size=20), theta=thetas)
def test_thresholds_rise_with_contributions_and_stay_in_range(
    trigger: str, contributions: list[float], theta: float
) -> None:
    ascending = values(trigger, sorted(contributions), theta)
    assert ascending == sorted(ascending)
    assert all(0.0 <= value <= 1.0 for value in ascending)


@given(st.lists(st.none() | shares, min_size=1, max_size=20), shares, thetas)
def test_surprisal_decides_as_flare_where_contributions_say_nothing_of_words(
    probabilities: list[float | None], mean: float, theta: float
) -> None:
    words = split_words(" ".join("abcdefghijklmnopqrst"[: len(probabilities)]))
    constant = [mean] * len(words)
    ours = judged("surprisal", words, probabilities, constant, theta)
    flare = judged("flare", words, probabilities, constant, theta)
    assert ours == flare


@given(shares, thetas)
def test_surprisal_keeps_theta_where_all_words_contribute_alike(r: float, theta: float) -> None:
    assert values("surprisal", [r, r, r], theta) == pytest.approx([theta] * 3)


def test_surprisal_neither_overflows_nor_divides_by_zero() -> None:
    assert values("surprisal", [5e-324, 1.0], 1e-300) == [0.0, pytest.approx(1e-150)]
    assert values("surprisal", [5e-324, 1.0], 1.0) == [1.0, 1.0]


def test_a_word_of_no_contribution_never_triggers_under_surprisal() -> None:
    for theta in (0.8, 1.0):
        found = judge("surprisal", (0.0, None, 0.99), (0.0, 0.0, 0.5), theta)
        assert [word.uncertain for word in found[:2]] == [False, False]


@pytest.mark.parametrize("trigger", ["flare", *BY_CONTRIBUTION])
def test_an_unknown_probability_counts_as_zero(trigger: str) -> None:
    unknown, _ = judge(trigger, (None, 1.0), (1e-9, 0.5))
    assert unknown.uncertain
    assert unknown.probability is None


def test_the_cap_sets_the_threshold_above_it_and_says_so() -> None:
    found = judge("exp_raw", (0.98, 0.98, 0.995), (0.0, 0.5, 0.5), theta_cap=0.99)
    assert [word.capped for word in found] == [False, True, True]
    assert [word.threshold for word in found[1:]] == [0.99, 0.99]
    assert [word.uncertain for word in found] == [False, True, False]


def test_a_word_capped_at_one_triggers_whatever_its_probability() -> None:
    capped, sure = judge("exp_raw", (1.0, 1.0), (1.0, 0.0))
    assert (capped.capped, capped.threshold, capped.uncertain) == (True, 1.0, True)
    assert (sure.capped, sure.uncertain) == (False, False)


def test_a_lower_cap_spares_a_certain_word() -> None:
    nearly, certain = judge("exp_raw", (0.98, 1.0), (1.0, 1.0), theta_cap=0.99)
    assert (nearly.uncertain, certain.uncertain) == (True, False)


def test_contributions_outside_the_range_are_clamped_to_it() -> None:
    found = judge("exp_raw", (0.9, 0.9), (-0.1, 1.5))
    assert [word.contribution for word in found] == [0.0, 1.0]
    assert found[0].threshold == pytest.approx(0.8)


@pytest.mark.parametrize("trigger", BY_CONTRIBUTION)
@pytest.mark.parametrize("contributions", [None, (0.1, 0.2), (0.1, 0.2, math.nan)])
def test_contributions_that_cannot_be_used_are_refused(
    trigger: str, contributions: tuple[float, ...] | None
) -> None:
    with pytest.raises(ScaarError, match="contribution"):
        judge(trigger, PROBABILITIES, contributions)


def test_without_trigger_every_word_has_theta_and_its_contribution() -> None:
    assert {word.threshold for word in judge("flare")} == {0.8}
    assert [word.contribution for word in judge("flare")] == list(CONTRIBUTIONS)
    plain = judge("flare", contributions=None)
    assert [word.contribution for word in plain] == [None, None, None]


def test_no_words_are_judged_to_none() -> None:
    assert judge("surprisal", (), ()) == ()


@pytest.mark.parametrize("trigger", ["flare", *BY_CONTRIBUTION])
@given(
    words=st.lists(st.tuples(st.floats(0.001, 1.0), shares), min_size=1, max_size=8),
    share=st.floats(0.01, 0.99),
    above=st.booleans(),
)
def test_a_theta_over_the_score_triggers_and_one_below_it_does_not(
    trigger: str, words: list[tuple[float, float]], share: float, above: bool
) -> None:
    spans = split_words(" ".join("abcdefgh"[: len(words)]))
    probabilities, contributions = [p for p, _ in words], [r for _, r in words]
    score = judged(trigger, spans, probabilities, contributions).score
    assert score is not None
    theta = score + (1.0 - score) * share if above else score * share
    if 0.0 < theta <= 1.0 and abs(theta - score) > 1e-9:
        found = judged(trigger, spans, probabilities, contributions, theta)
        assert (found.trigger is not None) is above
        assert found.score == pytest.approx(score), "the score does not hang on theta"


def test_the_scores_of_the_worked_example() -> None:
    def score(trigger: str) -> float | None:
        return judged(trigger, SENTENCE, PROBABILITIES, CONTRIBUTIONS).score

    assert score("flare") == pytest.approx(0.85)
    assert score("exp_raw") == pytest.approx(0.85 * math.exp(-0.20))
    assert score("surprisal") == pytest.approx(0.85**2.6087, abs=1e-5)
