"""Precision, recall and F1 by hand, and all over again by an independent reading of the rules."""

import itertools
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.measures.exact_match import exact_match
from scaar.core.measures.f1 import f1
from scaar.core.measures.normalisation import normalised
from scaar.core.measures.precision import precision
from scaar.core.measures.recall import recall


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        # 2 of 3 predicted words, 2 of 2 expected ones: F1 = 2 * (2/3) / (5/3) = 4/5.
        ("young Scott Derrickson", ["Scott Derrickson"], (2 / 3, 1.0, 0.8)),
        # 1 of 1, 1 of 4: F1 = 2 * (1/4) / (5/4) = 2/5.
        ("Vienna", ["Vienna, in Lower Austria"], (1.0, 0.25, 0.4)),
        # "b" twice on either side, "a" an article: 2 of 3 and 2 of 4, F1 = 4/7.
        ("a b b c", ["b b d e"], (2 / 3, 0.5, 4 / 7)),
        # Each is the best of its kind: precision by the first answer, recall by the second, and F1
        # the best of 2 * (1/3) / (4/3) = 1/2 and 2 * (1/2) / (3/2) = 2/3.
        ("red fox", ["red fox eats green geese now", "fox"], (1.0, 1.0, 2 / 3)),
        # Nothing in common, not even by letters.
        ("theatre", ["heat"], (0.0, 0.0, 0.0)),
        ("yes indeed", ["yes"], (0.0, 0.0, 0.0)),
        ("No.", ["no"], (1.0, 1.0, 1.0)),
        ("noanswer", ["no answer"], (0.0, 0.0, 0.0)),
        ("no", ["no", "yes"], (1.0, 1.0, 1.0)),
        ("the", ["an"], (0.0, 0.0, 0.0)),
        ("", ["Scott"], (0.0, 0.0, 0.0)),
        ("Scott", [], (0.0, 0.0, 0.0)),
    ],
)
def test_precision_recall_and_f1_are_worked_out_by_hand(
    prediction: str, answers: list[str], expected: tuple[float, float, float]
) -> None:
    found = (precision(prediction, answers), recall(prediction, answers), f1(prediction, answers))
    assert found == pytest.approx(expected)


BY_HAND = [
    *("The Beatles", "the the the", "a", "An", "A.", "THE-END", "the.end", "theatre", "Athens"),
    *("  a  man,   a plan ", "U.S.A.", "U. S. A.", "O'Neill", "rock 'n' roll", "C++", "C#", "C"),
    *("15,140", "15.140", "15 140", "$1.5", "100%", "½", "²", "Ⅳ", "3-2", "(1995 film)", "1995"),
    *("yes", "Yes.", "YES!", "no", "No, sir", "noanswer", "no answer", "no-answer", "the yes"),
    *("Café", "Cafe", "Cafe\u0301", "Straße", "STRASSE", "ﬁlm", "İstanbul", "ΣΑΣ", "naïve"),
    *(
        "“Quoted”",
        '"Quoted"',
        "Quoted",
        "it’s",
        "its",
        "—",
        "a—b",
        "a-b",
        "ab",
        "…",
        "...",
        "¿qué?",
    ),
    *("a\tb\nc", "a\u00a0b", "a\u200bb", "b\u2028c", "東京", "東 京", "東京。", "🚁", "_x_", "x"),
    *("an\u00a0apple", "apple", "the\u2019s", "a'the", "la the a an", "Anna", "Ana", "\\", "`"),
]
FORMS = (
    str.upper,
    lambda text: f"The {text}.",
    lambda text: f"{text}, {text}",
    lambda text: " ".join(text),
)
PAIRS = [
    *((text, form(text)) for text in BY_HAND for form in FORMS),
    *itertools.pairwise(BY_HAND),
]


def the_rules(text: str) -> list[str]:
    """The official steps read again, a character and a word at a time.

    Lower case; signs of ASCII punctuation out, nothing in their places; a, an and the out where
    they stand as words, a word being a run of letters, digits and underscores; then split.
    """
    kept = "".join(sign for sign in text.lower() if sign not in string.punctuation)
    pieces, word = [], ""
    for sign in f"{kept}\n":
        if sign.isalnum() or sign == "_":
            word += sign
            continue
        pieces += [" " if word in ("a", "an", "the") else word, sign]
        word = ""
    return "".join(pieces).split()


def the_scores(prediction: str, answer: str) -> tuple[float, float, float, float]:
    """Exact match, precision, recall and F1 of the official HotpotQA script, read again."""
    ours, theirs = the_rules(prediction), the_rules(answer)
    exact = float(ours == theirs)
    whole = (["yes"], ["no"], ["noanswer"])
    if (ours in whole or theirs in whole) and ours != theirs:
        return exact, 0.0, 0.0, 0.0
    left, same = list(theirs), 0
    for word in ours:
        if word in left:
            left.remove(word)
            same += 1
    if not same:
        return exact, 0.0, 0.0, 0.0
    p, r = same / len(ours), same / len(theirs)
    return exact, p, r, 2 * p * r / (p + r)


def test_there_are_at_least_200_awkward_pairs() -> None:
    assert len(set(PAIRS)) >= 200


@pytest.mark.parametrize(("prediction", "answer"), PAIRS)
def test_awkward_pairs_score_as_the_official_rules_say(prediction: str, answer: str) -> None:
    for text in (prediction, answer):
        assert normalised(text).split() == the_rules(text)
    found = tuple(measure(prediction, [answer]) for measure in (exact_match, precision, recall, f1))
    assert found == pytest.approx(the_scores(prediction, answer))


words = st.lists(st.sampled_from(["fox", "red", "Red,", "the", "yes", "no", "é"])).map(" ".join)


@given(prediction=words, answers=st.lists(words, max_size=4))
def test_the_best_over_the_answers_counts(prediction: str, answers: list[str]) -> None:
    scores = [the_scores(prediction, answer) for answer in answers]
    for at, measure in enumerate((precision, recall, f1), 1):
        best = max((score[at] for score in scores), default=0.0)
        assert measure(prediction, answers) == pytest.approx(best)
        assert measure(prediction, answers) <= 1


def test_a_prediction_of_white_space_is_never_right() -> None:
    assert exact_match(" ", ["The"]) == 0.0
    assert exact_match("the", ["A"]) == 1.0
