"""The measures that need libraries, worked out by hand and held to other packages."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from scaar.core.measures import MEASURES as CORE
from scaar.evaluator.measures import MEASURES
from scaar.evaluator.measures.bleu4 import bleu4_smoothed
from scaar.evaluator.measures.chrf import chrf
from scaar.evaluator.measures.meteor import _words_of as words_of
from scaar.evaluator.measures.meteor import meteor_exact_stem
from scaar.evaluator.measures.rouge import rouge1, rouge_l
from scaar.evaluator.measures.ter import ter_complement

NAMES = tuple(MEASURES)
SENTENCE = "the cat sat on the mat"

words = st.lists(st.sampled_from("cat cats mat the on sat red fox".split()), max_size=9).map(
    " ".join
)


def test_the_table_joins_those_of_the_core_and_those_of_libraries() -> None:
    of_libraries = "rouge1 rouge_l bleu4_smoothed meteor_exact_stem chrf ter_complement"
    assert (*CORE, *of_libraries.split()) == NAMES
    assert all(MEASURES[name] is CORE[name] for name in CORE)


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        (SENTENCE, [SENTENCE], 1.0),
        # 5 of 5 and 5 of 6 words: 2 * (5/6) / (11/6) = 10/11.
        ("the cat sat on mat", [SENTENCE], 10 / 11),
        # "the" three times, but twice there: 2 of 3 and 2 of 6, F1 = 4/9.
        ("The the THE", [SENTENCE], 4 / 9),
        # No stemming: cats is not cat. 1 of 2 and 1 of 2.
        ("red cats", ["red cat"], 0.5),
        ("red cats", ["cat", "red cats"], 1.0),
        # é parts the word: "caf" and "s".
        ("cafés", ["caf s"], 1.0),
        ("fox", [SENTENCE], 0.0),
        ("", ["fox"], 0.0),
        ("fox", [], 0.0),
    ],
)
def test_rouge1_is_worked_out_by_hand(prediction: str, answers: list[str], expected: float) -> None:
    assert rouge1(prediction, answers) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        (SENTENCE, [SENTENCE], 1.0),
        # The mat, sat on, the cat: a common subsequence of two of six words.
        ("the mat sat on the cat", [SENTENCE], 4 / 6),
        # Four of four words in order, of six expected: 2 * (2/3) / (5/3) = 4/5.
        ("cat sat the mat", ["fox", SENTENCE], 4 / 5),
        ("fox", [SENTENCE], 0.0),
        ("", ["fox"], 0.0),
        ("fox", [], 0.0),
    ],
)
def test_rouge_l_is_worked_out_by_hand(
    prediction: str, answers: list[str], expected: float
) -> None:
    assert rouge_l(prediction, answers) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        (SENTENCE, [SENTENCE], 1.0),
        ("The Cat sat on the mat", [SENTENCE], 1.0),
        # A short answer that is right is right: only the n-grams that it has count.
        ("Graz", ["Graz"], 1.0),
        ("Graz Ost", ["Graz Ost"], 1.0),
        ("Linz", ["Graz"], 0.0),
        # Words 4/5, pairs 3/4, threes 2/3, fours 1/2; brevity exp(1 - 6/5).
        ("the cat sat on it", [SENTENCE], math.exp(-0.2) * (4 / 5 * 3 / 4 * 2 / 3 / 2) ** 0.25),
        # Words 4/4, pairs 1/3; no threes, no fours: smoothed to 1/(2*2) and 1/(4*1).
        ("red cat on mat", ["cat on red mat"], (4 / 4 * 1 / 3 * 1 / 4 * 1 / 4) ** 0.25),
        ("red fox", ["cat", "red fox"], 1.0),
        ("", ["fox"], 0.0),
        ("fox", [], 0.0),
    ],
)
def test_smoothed_bleu4_is_worked_out_by_hand(
    prediction: str, answers: list[str], expected: float
) -> None:
    assert bleu4_smoothed(prediction, answers) == pytest.approx(expected)


@given(prediction=words, answer=words)
def test_smoothed_bleu4_is_that_of_nltk_with_the_same_smoothing(
    prediction: str, answer: str
) -> None:
    ours, theirs = prediction.split(), answer.split()
    order = min(4, len(ours))
    expected = 0.0
    if set(ours) & set(theirs):
        smoothing = SmoothingFunction().method3
        weights = [1 / order] * order
        expected = float(sentence_bleu([theirs], ours, weights, smoothing_function=smoothing))
    assert bleu4_smoothed(prediction, [answer]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        # 6 matches in 1 chunk: F = 1, penalty 0.5 * (1/6)**3.
        (SENTENCE, [SENTENCE], 1 - 0.5 / 216),
        # One word is one chunk: penalty 0.5.
        ("Graz", ["graz"], 0.5),
        # By the stem: cats and cat, 2 matches in 1 chunk: 1 - 0.5 / 8.
        ("red cats", ["red cat"], 1 - 0.5 / 8),
        # No synonyms: auto is no car. P = R = 1/2, F = 1/2, one chunk of one: 0.5 * 0.5.
        ("red auto", ["red car"], 0.25),
        # 1 of 2 and 1 of 4: F = P R / (0.9 P + 0.1 R) = (1/8) / (0.45 + 0.025), penalty 0.5.
        ("red fox", ["the cat is red"], 0.125 / 0.475 * 0.5),
        # 3 matches in 3 chunks, the order turned: penalty 0.5.
        ("mat red cat", ["cat red mat"], 0.5),
        ("fox", [SENTENCE], 0.0),
        ("fox", ["cat", "fox"], 0.5),
        ("", ["fox"], 0.0),
        ("fox", [], 0.0),
    ],
)
def test_meteor_of_exact_and_stem_matches_is_worked_out_by_hand(
    prediction: str, answers: list[str], expected: float
) -> None:
    assert meteor_exact_stem(prediction, answers) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        (SENTENCE, [SENTENCE], 1.0),
        ("Graz", ["graz"], 1.0),
        # Of 4 and 5 characters: precisions 1, 1, 1, 1 and recalls 4/5, 3/4, 2/3, 1/2. Orders that
        # the answer does not have are left out. F2 of the means, 5 P R / (4 P + R).
        ("graz", ["graza"], 5 * (163 / 240) / (4 + 163 / 240)),
        ("bern", ["oo"], 0.0),
        ("fox", ["cat", "fox"], 1.0),
        ("", ["fox"], 0.0),
        ("fox", [], 0.0),
    ],
)
def test_chrf_is_worked_out_by_hand(prediction: str, answers: list[str], expected: float) -> None:
    assert chrf(prediction, answers) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        (SENTENCE, [SENTENCE], 1.0),
        ("Graz", ["graz"], 1.0),
        # One word of six is missing.
        ("the cat sat on mat", [SENTENCE], 5 / 6),
        # A shift of a phrase is one edit.
        ("on the mat the cat sat", [SENTENCE], 5 / 6),
        # One of two words replaced.
        ("red cats", ["red cat"], 0.5),
        # More edits than the reference has words.
        ("the cat sat on the mat", ["fox"], 0.0),
        ("fox", ["cat", "fox"], 1.0),
        ("", ["fox"], 0.0),
        ("fox", [], 0.0),
    ],
)
def test_the_complement_of_ter_is_worked_out_by_hand(
    prediction: str, answers: list[str], expected: float
) -> None:
    assert ter_complement(prediction, answers) == pytest.approx(expected)


def test_words_are_lower_case_and_signs_stand_alone() -> None:
    assert words_of("It's Café,\n3.5!") == ["it", "'", "s", "café", ",", "3", ".", "5", "!"]


@pytest.mark.parametrize("name", NAMES)
@given(prediction=words, answers=st.lists(words, max_size=3))
def test_every_measure_is_in_its_range_and_the_best_over_the_answers(
    name: str, prediction: str, answers: list[str]
) -> None:
    measure = MEASURES[name]
    score = measure(prediction, answers)
    assert (-1 if name == "crag" else 0) <= score <= 1
    assert score == max((measure(prediction, [answer]) for answer in answers), default=0.0)
    assert measure("", answers) == measure(" \n", answers) == 0
