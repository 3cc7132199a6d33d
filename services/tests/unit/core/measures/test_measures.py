import pytest

from scaar.core.measures import MEASURES
from scaar.core.measures.exact_match import exact_match
from scaar.core.measures.f1 import f1
from scaar.core.measures.normalisation import normalised


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


@pytest.mark.parametrize("name", MEASURES)
def test_a_missing_prediction_scores_0(name: str) -> None:
    assert MEASURES[name]("", ["Scott"]) == 0.0
    assert MEASURES[name]("Scott", []) == 0.0
