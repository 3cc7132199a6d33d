"""The words of a judged draft: their numbers and their lines."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.console.words import HEIGHT, WordView, words_of
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.types import JudgedWord, PolicyOverrides, PolicyRequest, SentenceJudged
from scaar.testing.fakes import SCRIPTED_MODEL


def view(word: JudgedWord, policy: str = "scaar", *, theta: float = 0.8) -> WordView:
    request = PolicyRequest(policy, PolicyOverrides(theta=theta))
    judged = SentenceJudged(0, " Ordor", (word,), 0, retrieving=True)
    (found,) = words_of(judged, effective_policy(request, SCRIPTED_MODEL)).words
    return found


def word(probability: float, threshold: float, *, uncertain: bool = True) -> JudgedWord:
    return JudgedWord("Ordor", 0, 5, probability, threshold, uncertain)


@pytest.mark.parametrize(
    ("judged", "numbers"),
    [
        (word(0.262, 0.373), ("0.26", "< 0.37")),
        (word(0.9, 0.27, uncertain=False), ("0.90", "≥ 0.27")),
        (word(0.7996, 0.8), ("0.7996", "< 0.8000")),
        # A threshold that was raised beyond 1.
        (word(0.99999, 1.0), (">0.99", "< 1.00")),
        (word(1.0, 1.0), ("1.00", "< 1.00")),
        (replace(word(0.0, 0.8), probability=None), ("?", "< 0.80")),
    ],
)
def test_a_word_has_its_probability_and_its_threshold_as_numbers(
    judged: JudgedWord, numbers: tuple[str, str]
) -> None:
    found = view(judged)
    assert (found.value, found.limit) == numbers


def test_a_value_is_compared_the_other_way_round() -> None:
    found = view(replace(word(0.5, 1.3), value=1.42), "dragin", theta=1.3)
    assert (found.value, found.limit) == ("1.42", "> 1.30")


def test_a_sentence_that_is_judged_as_a_whole_has_no_thresholds_of_words() -> None:
    judged = replace(word(0.5, 1.4, uncertain=False), value=1.8)
    found = view(judged, "perplexity", theta=1.4)
    assert (found.value, found.limit, found.threshold_y) == ("0.50", "", None)


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_two_lines_of_a_word_are_apart_and_whole(probability: float, threshold: float) -> None:
    uncertain = probability < threshold
    found = view(word(probability, threshold, uncertain=uncertain))
    assert found.value_y is not None
    assert found.threshold_y is not None
    assert abs(found.value_y - found.threshold_y) >= 8.9
    assert (found.value_y > found.threshold_y) == uncertain
    assert min(found.value_y, found.threshold_y) >= 2
    assert max(found.value_y, found.threshold_y) <= HEIGHT - 2
