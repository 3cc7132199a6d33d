from dataclasses import replace

import numpy as np
import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.types import JudgedWord, Usage
from scaar.evaluator.records import Decision, Prediction, Score
from scaar.evaluator.statistics.table import (
    CAPPED_WORDS,
    FAILED,
    JUDGED_WORDS,
    MISSING,
    TableBuilder,
)

from ..simulated import NOTHING_SPENT, SETTINGS, draw_questions, draw_scores, table_of

QUESTIONS = draw_questions(12)
SCORES = tuple(draw_scores(QUESTIONS, SETTINGS))


def test_every_score_is_at_its_setting_and_question() -> None:
    table = table_of(QUESTIONS, SETTINGS, SCORES)
    assert table.measures == ("exact_match", "f1")
    for score in SCORES[::7]:
        setting = [each.label for each in table.settings].index(score.setting)
        question = [each.id for each in table.questions].index(score.question_id)
        assert table.column("f1")[setting, question] == score.values["f1"]
        assert table.column("retrievals")[setting, question] == score.usage.retrievals
        assert table.column("latency_ms")[setting, question] == score.usage.latency_ms
    assert not table.column(MISSING).any()


def test_the_order_of_questions_and_scores_changes_nothing() -> None:
    there = table_of(QUESTIONS, SETTINGS, SCORES)
    back = table_of(QUESTIONS[::-1], SETTINGS, SCORES[::-1])
    assert there.questions == back.questions
    assert np.array_equal(there.values, back.values)
    assert np.array_equal(there.clusters, back.clusters)


def test_a_missing_prediction_scores_0_and_is_counted() -> None:
    table = table_of(QUESTIONS, SETTINGS, SCORES[1:])
    assert table.column(MISSING).sum() == 1
    assert table.values[0, :, :].shape[1] == 12
    at = [each.id for each in table.questions].index(SCORES[0].question_id)
    assert table.column("f1")[0, at] == 0
    assert table.column("latency_ms")[0, at] == 0


def test_a_failed_prediction_scores_0_with_any_answer() -> None:
    failed = replace(SCORES[0], values={}, usage=NOTHING_SPENT, failed=True)
    table = table_of(QUESTIONS, SETTINGS, (failed, *SCORES[1:]))
    at = [each.id for each in table.questions].index(failed.question_id)
    assert table.column(FAILED).sum() == 1
    assert table.column("f1")[0, at] == 0
    assert table.column(MISSING).sum() == 0


@pytest.mark.parametrize("values", [{}, {"accuracy": 0.0}])
def test_a_set_that_failed_whole_scores_0(values: dict[str, float]) -> None:
    scores = [replace(score, values=values, failed=True) for score in SCORES]
    table = table_of(QUESTIONS, SETTINGS, scores)
    assert table.measures == (tuple(values) or ("exact_match", "f1"))
    assert not table.column(table.measures[0]).any()
    assert table.column(FAILED).all()


def test_words_that_were_judged_and_capped_are_counted() -> None:
    def word(capped: bool) -> JudgedWord:
        return JudgedWord("w", 0, 1, 0.5, 0.8, True, 0.1, capped)

    builder = TableBuilder(QUESTIONS, SETTINGS)
    decisions = (
        Decision("A.", words=(word(True), word(False))),
        Decision("B.", words=(word(True),)),
    )
    label = SETTINGS[-1].label
    builder.add_prediction(Prediction(label, "q00003", "", "", NOTHING_SPENT, decisions=decisions))
    table = builder.build()
    assert (table.column(JUDGED_WORDS).sum(), table.column(CAPPED_WORDS).sum()) == (3, 2)
    at = [each.id for each in table.questions].index("q00003")
    assert table.column(CAPPED_WORDS)[-1, at] == 2


def test_the_questions_about_an_entity_stand_together() -> None:
    table = table_of(QUESTIONS, SETTINGS, ())
    entities = [question.entity for question in table.questions]
    assert entities == sorted(entities)
    assert [entities[at] for at in table.clusters] == sorted(set(entities))


def test_a_part_of_the_questions_keeps_every_setting_and_column() -> None:
    table = table_of(QUESTIONS, SETTINGS, SCORES)
    part = table.of([number % 3 == 0 for number in range(12)])
    assert part.questions == table.questions[::3]
    assert np.array_equal(part.values, table.values[:, :, ::3])
    assert part.settings == table.settings


SPENT = Usage(0, 0, 0, 0, 0.0)


@pytest.mark.parametrize(
    ("score", "says"),
    [
        (Score("none", "q00000", {"f1": 1.0}, SPENT), "name setting 'none'"),
        (Score("no_retrieval", "none", {"f1": 1.0}, SPENT), "name question 'none'"),
        (Score("no_retrieval", "q00000", {"f1": 1.0}, SPENT), "have exact_match, f1"),
        (SCORES[0], "hold question '.*' under setting 'no_retrieval' twice"),
    ],
)
def test_a_score_of_an_unknown_question_or_setting_is_refused(score: Score, says: str) -> None:
    with pytest.raises(InvalidRequest, match=says) as caught:
        table_of(QUESTIONS, SETTINGS, (*SCORES, score))
    assert caught.value.violations[0].field == "scores"


def test_a_value_without_a_number_is_refused() -> None:
    bad = replace(SCORES[0], values={"exact_match": 0.0, "f1": float("nan")})
    with pytest.raises(InvalidRequest, match="not a number"):
        table_of(QUESTIONS, SETTINGS, (bad, *SCORES[1:]))


def test_no_questions_no_settings_and_equal_ones_are_refused_by_name() -> None:
    for questions, settings, says in (
        ((), SETTINGS, "questions: must be at least one"),
        (QUESTIONS, (), "settings: must be at least one"),
        ((*QUESTIONS, QUESTIONS[0]), SETTINGS, "questions: must differ, and 'q00000'"),
        (QUESTIONS, (*SETTINGS, SETTINGS[1]), "settings: must differ, and 'single_round'"),
    ):
        with pytest.raises(InvalidRequest, match=says):
            TableBuilder(questions, settings)
