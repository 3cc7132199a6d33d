from dataclasses import replace

import pytest

from scaar.core.triggers import TRIGGERS
from scaar.core.types import JudgedWord, PolicyRequest, Query
from scaar.evaluator.execution.prediction import NO_USAGE
from scaar.evaluator.records import Decision, Prediction, Question, Setting
from scaar.evaluator.scoring.detection import Detection, JudgedDraftsBuilder, detect

WORD = JudgedWord("Ann", 0, 3, 0.5, 0.8, uncertain=True)
QUESTIONS = tuple(Question(f"q{n}", "Who?", ("Ann",), f"e{n}") for n in range(4))
RIGHT = Decision("Ann.", "Ann.", (WORD,), score=0.9, draft_right=True, right=True)
WRONG = Decision(
    "Ann.", "Bob.", (WORD,), 0.2, 0, Query("Bob", "question"), draft_right=False, right=True
)


def detected(*answers: tuple[Decision, ...], trigger: str = "flare") -> Detection:
    builder = JudgedDraftsBuilder(QUESTIONS, [Setting("one", PolicyRequest("flare"))])
    for question, decisions in zip(QUESTIONS, answers, strict=False):
        builder.add_prediction(
            Prediction("one", question.id, "Ann", "Ann.", NO_USAGE, decisions=decisions)
        )
    return detect(builder.drafts("one"), TRIGGERS[trigger].theta)


def test_a_low_probability_detects_a_wrong_draft() -> None:
    found = detected((RIGHT, WRONG), (RIGHT,), (WRONG, RIGHT))
    assert (found.drafts, found.wrong) == (5, 2)
    assert (found.auroc.value, found.caught.value) == (1.0, 1.0)
    assert (found.over_retrieval.value, found.under_retrieval.value) == (0.0, 0.0)
    assert found.corrected.value == 1.0
    # Three drafts are right with a probability of 0.9, two wrong with 0.2.
    assert found.ece.value == pytest.approx((3 * 0.1 + 2 * 0.2) / 5)


def test_a_high_perplexity_detects_a_wrong_draft_and_is_no_probability() -> None:
    wrong, right = replace(WRONG, score=9.0), replace(RIGHT, score=1.5)
    found = detected((right, wrong), (right,), trigger="perplexity")
    assert (found.auroc.value, found.ece.value) == (1.0, None)


def test_retrievals_beside_the_wrong_drafts_are_counted() -> None:
    missed = replace(WRONG, query=None, trigger=None, right=False)
    retrieved = replace(RIGHT, query=Query("Ann", "question"), trigger=0)
    found = detected((retrieved, missed), (RIGHT, WRONG), (RIGHT, WRONG), (RIGHT, WRONG))
    assert (found.over_retrieval.value, found.under_retrieval.value) == (0.25, 0.25)
    assert found.corrected.value == 0.75


def test_a_draft_without_a_score_triggers_at_every_theta_or_at_none() -> None:
    always, never = replace(WRONG, score=None), replace(RIGHT, score=None)
    for trigger in ("flare", "perplexity"):
        assert detected((always, never), (RIGHT,), trigger=trigger).auroc.value == 1.0


def test_drafts_that_are_not_judged_or_state_no_fact_do_not_count() -> None:
    unknown, unjudged = replace(WRONG, draft_right=None), replace(WRONG, words=())
    found = detected((unknown, unjudged))
    assert (found.drafts, found.auroc.value, found.corrected.value) == (0, None, None)
