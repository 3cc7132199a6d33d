from dataclasses import replace

import pytest

from scaar.evaluator.execution.prediction import NO_USAGE
from scaar.evaluator.records import Score
from scaar.evaluator.scoring.budgeted import BENEFIT, BUDGETED, budgeted_settings


def score(question: str, retrievals: int, f1: float) -> Score:
    usage = replace(NO_USAGE, retrievals=retrievals)
    return Score(f"{question} {retrievals} {f1}", question, {"f1": f1}, usage)


def frontier(scores: list[Score]) -> tuple[list[tuple[int, float]], tuple[int, float]]:
    """The retrievals and the score of every budgeted setting, and of the benefit oracle."""
    settings, found = budgeted_settings(scores, measure="f1", query="oracle")
    totals = [
        (
            sum(each.usage.retrievals for each in found if each.setting == setting.label),
            sum(each.values["f1"] for each in found if each.setting == setting.label),
        )
        for setting in settings
    ]
    assert [each.policy.name for each in settings] == [BUDGETED] * (len(settings) - 1) + [BENEFIT]
    assert {each.policy.overrides.query for each in settings} == {"oracle"}
    return totals[:-1], totals[-1]


def test_retrievals_are_made_in_the_order_of_their_gain() -> None:
    easy = [score("easy", 0, 0.0), score("easy", 1, 1.0)]
    hard = [score("hard", 0, 0.0), score("hard", 1, 0.0), score("hard", 2, 1.0)]
    known = [score("known", 0, 1.0), score("known", 1, 0.0), score("known", 2, 1.0)]
    assert frontier([*hard, *known, *easy]) == ([(0, 1.0), (1, 2.0), (3, 3.0)], (3, 3.0))


def test_the_best_of_the_plans_with_as_many_retrievals_counts() -> None:
    plans = [score("q", 0, 0.2), score("q", 1, 0.0), score("q", 1, 0.6), score("q", 2, 0.5)]
    assert frontier(plans) == ([(0, 0.2), (1, 0.6)], (1, 0.6))


def test_a_step_over_a_plan_below_the_hull_is_taken_whole() -> None:
    plans = [score("q", 0, 0.0), score("q", 1, 0.1), score("q", 2, 1.0)]
    assert frontier(plans) == ([(0, 0.0), (2, 1.0)], (2, 1.0))


def test_questions_that_no_retrieval_helps_have_one_setting() -> None:
    assert frontier([score("q", 0, 1.0), score("q", 1, 1.0)]) == ([(0, 1.0)], (0, 1.0))


def test_plans_need_an_answer_without_retrievals() -> None:
    with pytest.raises(ValueError, match="question q has no plan without retrievals"):
        budgeted_settings([score("q", 1, 1.0)], measure="f1", query="oracle")
    with pytest.raises(ValueError, match="there is no score of a plan"):
        budgeted_settings([], measure="f1", query="oracle")
