"""The triggers that compare the sentence as a whole with one threshold, by their equations."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.evidence import Evidence
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.text.words import split_words
from scaar.core.triggers import TRIGGERS, Judgement
from scaar.core.types import PolicyOverrides, PolicyRequest, Token, TopToken
from scaar.testing.fakes import SCRIPTED_MODEL

PIECES = (" The", " Har", "bour", " by", " Ada.")
CONTRIBUTIONS = (0.1, 0.4, 0.2, 0.9)
OF_TOKENS = (0.1, 0.4, 0.4, 0.2, 0.9)
FIRST, SECOND = 0, 1

logprobs = st.tuples(*[st.floats(-12.0, 0.0)] * len(PIECES))
gaps = st.tuples(*[st.floats(0.0, 12.0)] * len(PIECES))


def evidence(
    logprobs: Sequence[float | None],
    gaps: Sequence[float] = (1.0,) * len(PIECES),
    contributions: tuple[float, ...] = CONTRIBUTIONS,
) -> Evidence:
    tokens, end = list[Token](), 0
    for piece, logprob, gap in zip(PIECES, logprobs, gaps, strict=True):
        top = TopToken(0, "a", -0.5 - gap), TopToken(1, "b", -0.5)
        tokens.append(Token(0, piece, end, end := end + len(piece), logprob, None, top))
    return Evidence(split_words("".join(PIECES)), tuple(tokens), contributions)


def judged(trigger: str, drafted: Evidence, theta: float | None = None) -> Judgement:
    request = PolicyRequest("flare", PolicyOverrides(trigger=trigger, theta=theta))
    return TRIGGERS[trigger].judge(drafted, effective_policy(request, SCRIPTED_MODEL))


EQUATIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "surprisal_sum": lambda logprobs: -sum(logprobs),
    "msp": lambda logprobs: 1.0 - math.prod(map(math.exp, logprobs)),
    "perplexity": lambda logprobs: math.exp(-fmean(logprobs)),
    "tokensar": lambda logprobs: (
        -sum(r * each for r, each in zip(OF_TOKENS, logprobs, strict=True)) / sum(OF_TOKENS)
    ),
}


@pytest.mark.parametrize("trigger", EQUATIONS)
@given(logprobs=logprobs)
def test_the_value_is_that_of_the_equation(trigger: str, logprobs: tuple[float, ...]) -> None:
    found = judged(trigger, evidence(logprobs))
    expected = EQUATIONS[trigger](logprobs)
    assert found.score == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert {word.value for word in found.words} == {found.score}


@given(gaps)
def test_the_margin_is_the_mean_ratio_of_the_two_largest_probabilities(
    gaps: tuple[float, ...],
) -> None:
    found = judged("margin", evidence((-0.1,) * len(PIECES), gaps))
    assert found.score == pytest.approx(fmean(math.exp(-gap) for gap in gaps))


@given(first=logprobs, second=logprobs)
def test_msp_ranks_sentences_as_the_sum_of_surprisals_does(
    first: tuple[float, ...], second: tuple[float, ...]
) -> None:
    sums = [judged("surprisal_sum", evidence(each)).score or 0.0 for each in (first, second)]
    msps = [judged("msp", evidence(each)).score or 0.0 for each in (first, second)]
    assert (sums[FIRST] <= sums[SECOND]) <= (msps[FIRST] <= msps[SECOND])


@given(logprobs)
def test_tokensar_with_equal_contributions_is_the_mean_surprisal(
    logprobs: tuple[float, ...],
) -> None:
    equal = evidence(logprobs, contributions=(0.3,) * 4)
    assert judged("tokensar", equal).score == pytest.approx(-fmean(logprobs), abs=1e-12)


@pytest.mark.parametrize("trigger", ["surprisal_sum", "msp", "margin", "tokensar"])
def test_a_missing_value_makes_the_sentence_uncertain(trigger: str) -> None:
    if trigger == "margin":
        known = evidence((-0.1,) * len(PIECES))
        bare = tuple(replace(token, top=token.top[:1]) for token in known.tokens)
        found = judged(trigger, replace(known, tokens=bare))
    else:
        found = judged(trigger, evidence((None, -0.1, -0.1, -0.1, -0.1)))
    assert found.score is None
    assert found.trigger == 0


@pytest.mark.parametrize(
    ("trigger", "expected"), [("surprisal_sum", 3), ("msp", 3), ("tokensar", 1)]
)
def test_the_trigger_is_the_most_influential_word(trigger: str, expected: int) -> None:
    shares = (0.1, 0.9, 0.2, 0.1)
    found = judged(trigger, evidence((0.0, -1.0, -1.0, 0.0, -3.0), contributions=shares), 0.01)
    assert found.trigger == expected
    assert not any(word.uncertain for word in found.words)


def test_the_trigger_of_the_margin_is_the_word_with_the_smallest_gap() -> None:
    found = judged("margin", evidence((-0.1,) * len(PIECES), (5.0, 5.0, 0.5, 1.0, 5.0)), 0.1)
    assert found.trigger == 1
