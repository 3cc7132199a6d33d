from dataclasses import replace

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.types import Abstention
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.records import Prediction
from scaar.evaluator.results import Results
from scaar.evaluator.scoring.comparison import compare
from scaar.evaluator.scoring.scores import measured_in, score_of, scores_of
from scaar.evaluator.scoring.summary import summaries, table_of
from scaar.testing.evaluations import EVALUATION, LABELS, QUESTIONS, USAGE, failed, prediction

LAB = kind_of("lab")


def results(*predictions: Prediction) -> Results:
    return Results(EVALUATION, QUESTIONS, predictions)


def test_an_answer_is_measured_by_the_measures_of_its_data_set() -> None:
    score = score_of(QUESTIONS[1], prediction("flare", "q2", answer="The logician."), LAB)
    assert tuple(score.values) == LAB.measures
    assert set(score.values.values()) == {1.0}
    assert (score.usage, score.failed) == (USAGE, False)


def test_what_failed_and_what_says_nothing_scores_0() -> None:
    lost = score_of(QUESTIONS[0], failed("flare", "q1"), LAB)
    silent = score_of(QUESTIONS[0], prediction("flare", "q1", answer=" "), LAB)
    assert set(lost.values.values()) == set(silent.values.values()) == {0.0}
    assert (lost.failed, silent.failed) == (True, False)


def test_means_keep_what_failed_or_is_missing_in_the_denominator() -> None:
    found = results(
        prediction(LABELS[0], "q1"),
        prediction(LABELS[1], "q1"),
        failed(LABELS[1], "q2"),
        prediction(LABELS[2], "q1"),
        prediction(LABELS[2], "q2", answer="logician"),
    )
    without, half, whole = summaries(table_of(found, scores_of(found)))
    assert [each.means["f1"] for each in (without, half, whole)] == [0.5, 0.5, 1.0]
    assert [(each.failed, each.missing) for each in (without, half, whole)] == [
        (0, 1),
        (1, 0),
        (0, 0),
    ]
    assert (half.means["retrievals"], half.efficiency) == (0.5, 0.0)
    assert whole.efficiency == 50.0
    assert whole.main.low == whole.main.high == 1.0


def test_settings_of_the_same_label_are_compared_over_the_questions_of_both() -> None:
    before = results(*(prediction(label, "q1", answer="a queen") for label in LABELS))
    after = Results(EVALUATION, QUESTIONS[:1], tuple(prediction(label, "q1") for label in LABELS))
    found = compare(before, after, scores=(scores_of(before), scores_of(after)))
    assert (found.questions, found.measure) == (1, "f1")
    assert [each.setting for each in found.compared] == list(LABELS)
    for each in found.compared:
        assert (each.before, each.after) == (0.0, 1.0)
        gained, usage = each.difference, each.usage
        assert gained.value == gained.low == gained.high == 1.0
        assert [one.value for one in usage] == [0.0] * 3


def test_questions_of_the_same_id_must_be_the_same() -> None:
    other = Results(EVALUATION, QUESTIONS[1:], ())
    with pytest.raises(InvalidRequest, match="has no question of A"):
        compare(Results(EVALUATION, QUESTIONS[:1], ()), other, scores=((), ()))


def test_crag_counts_an_abstention_as_none_and_other_measures_compare_its_text() -> None:
    question, kind = QUESTIONS[0], measured_in(LAB, "crag")
    found = prediction(LABELS[0], question.id, answer="a queen")
    abstained = replace(found, abstained=Abstention(0.1, 0.3))
    assert score_of(question, found, kind).values["crag"] == -1
    assert score_of(question, abstained, kind).values["crag"] == 0
    right = replace(abstained, answer="a countess")
    assert score_of(question, right, kind).values["crag"] == 0
    assert score_of(question, right, kind).values["exact_match"] == 1
