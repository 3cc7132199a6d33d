import pytest

from scaar.core.measures import MEASURES
from scaar.core.measures.crag import crag
from scaar.core.measures.exact_match import exact_match
from scaar.core.measures.f1 import f1
from scaar.core.measures.normalisation import normalised
from scaar.core.measures.sub_exact_match import sub_exact_match


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The Beatles", "beatles"),
        ("  a  man,   a plan ", "man plan"),
        ("U.S.", "us"),
        ("theatre", "theatre"),
        ("Twenty-one", "twentyone"),
        ("the", ""),
        ("“Quoted”", "“quoted”"),
    ],
)
def test_answers_are_normalised_as_in_squad(answer: str, expected: str) -> None:
    assert normalised(answer) == expected


def test_exact_match_accepts_any_of_the_answers() -> None:
    assert exact_match("The United States", ["USA", "united states"]) == 1.0
    assert exact_match("United", ["USA", "united states"]) == 0.0


def test_f1_is_worked_out_by_hand() -> None:
    # 2 of 3 predicted words, 2 of 2 expected ones: P = 2/3, R = 1, F1 = 0.8.
    assert f1("young Scott Derrickson", ["Scott Derrickson"]) == pytest.approx(0.8)
    # The best over the aliases.
    assert f1("Scott", ["Derrickson", "Scott"]) == 1.0
    # A repeated word counts as often as both have it: P = 1/2, R = 1.
    assert f1("Scott Scott", ["Scott"]) == pytest.approx(2 / 3)


def test_yes_and_no_are_whole_answers() -> None:
    assert f1("yes", ["yes"]) == 1.0
    assert f1("no it was", ["no"]) == 0.0
    assert f1("no", ["no it was"]) == 0.0


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        ("He was born in the town of Graz, in 1901.", ["Linz", "Graz"], 1.0),
        ("Linz", ["Graz"], 0.0),
        # Characters, as in FlashRAG: also a part of a word.
        ("Indianapolis", ["India"], 1.0),
        # An answer without words is in every text, so that it must be matched exactly.
        ("B", ["A"], 0.0),
        ("A", ["A"], 1.0),
    ],
)
def test_sub_exact_match_is_an_answer_within_the_prediction(
    prediction: str, answers: list[str], expected: float
) -> None:
    assert sub_exact_match(prediction, answers) == expected


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [
        ("The Graz", 1.0),
        ("Linz", -1.0),
        ("I don't know", 0.0),
        ("I don’t know.", 0.0),
        ("I do not know which town.", 0.0),
        ("Invalid question", -1.0),
    ],
)
def test_crag_rewards_an_answer_and_punishes_a_wrong_one(prediction: str, expected: float) -> None:
    assert crag(prediction, ["Graz"]) == expected


def test_crag_accepts_any_statement_that_a_question_with_a_false_premise_is_invalid() -> None:
    assert crag("The question is invalid.", ["invalid question"]) == 1.0
    assert crag("Graz", ["invalid question"]) == -1.0


@pytest.mark.parametrize("name", MEASURES)
def test_a_missing_prediction_scores_0(name: str) -> None:
    assert MEASURES[name]("", ["Scott"]) == 0.0
    assert MEASURES[name]("Scott", []) == 0.0
