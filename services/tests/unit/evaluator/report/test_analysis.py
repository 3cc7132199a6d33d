from dataclasses import replace

import numpy as np
import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.report.analysis import Analysis, Statistic, analyse
from scaar.evaluator.report.model import ReportOptions
from scaar.evaluator.results import Grid
from scaar.evaluator.splits import Split, split_of
from scaar.evaluator.statistics.estimate import Corrected, holm
from scaar.evaluator.statistics.variants import PolicyVariant

from ..simulated import SETTINGS, draw_questions, draw_scores, evaluation_of, table_of

QUESTIONS = draw_questions(120)
TABLE = table_of(QUESTIONS, SETTINGS, tuple(draw_scores(QUESTIONS, SETTINGS)))
EVALUATION = evaluation_of(QUESTIONS, SETTINGS)
FEW = ReportOptions(resamples=200)


def _analysed(options: ReportOptions = FEW) -> Analysis:
    return analyse(EVALUATION, TABLE, options)


def test_the_halves_are_those_of_the_data_sets_seed() -> None:
    tested = {question.id for question in _analysed().splits.test.questions}
    seed = EVALUATION.dataset.seed
    assert tested == {q.id for q in QUESTIONS if split_of(q.entity, seed=seed) is Split.TEST}


def test_the_halves_that_thresholds_were_placed_by_stand() -> None:
    ids = [question.id for question in QUESTIONS]
    grid = Grid(6, {}, development=tuple(ids[:90]), test=tuple(ids[90:]))
    found = analyse(replace(EVALUATION, grid=grid), TABLE, FEW)
    assert {question.id for question in found.splits.test.questions} == set(ids[90:])


def test_what_is_compared_and_with_whom_may_be_named() -> None:
    assert (_analysed().measure, _analysed().reference.name) == ("f1", "scaar")
    found = _analysed(replace(FEW, measure="exact_match", reference="single_round"))
    assert (found.measure, found.reference.name) == ("exact_match", "single_round")


def test_where_answers_are_not_free_policies_are_compared_in_accuracy() -> None:
    scores = [
        replace(score, values={"accuracy": score.values["exact_match"]})
        for score in draw_scores(QUESTIONS, SETTINGS)
    ]
    found = analyse(EVALUATION, table_of(QUESTIONS, SETTINGS, scores), FEW)
    assert found.measure == "accuracy"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (ReportOptions(reference="dragin"), "reference: must be one of no_retrieval, .*'dragin'"),
        (ReportOptions(measure="bleu"), "measure: must be one of exact_match, f1, not 'bleu'"),
        (ReportOptions(resamples=99), "resamples: must be at least 100, not 99"),
    ],
)
def test_options_that_do_not_fit_are_refused_by_name(options: ReportOptions, says: str) -> None:
    with pytest.raises(InvalidRequest, match=says):
        _analysed(options)


def test_the_chosen_setting_has_the_best_development_score() -> None:
    analysis = _analysed()
    for variant in analysis.variants:
        scores = analysis.means.development.of("f1")[0]
        assert scores[analysis.chosen(variant)] == max(scores[at] for at in variant.candidates)


def test_differences_are_from_the_reference_and_corrected_over_the_policies() -> None:
    analysis = _analysed()
    compared = analysis.compare(
        lambda variant: lambda splits: splits.test.of("f1")[:, variant.candidates[0]]
    )
    assert [each.variant.name for each in compared] == [
        "no_retrieval",
        "single_round",
        "fixed_sentence",
        "flare",
    ]
    own = analysis.means.test.of("f1")[0, analysis.reference.candidates[0]]
    for each in compared:
        theirs = analysis.means.test.of("f1")[0, each.variant.candidates[0]]
        assert each.difference.value == pytest.approx(theirs - own)
    p_values = [each.difference.p for each in compared if each.difference.p is not None]
    assert [each.difference.holm for each in compared] == holm(p_values)


def test_what_is_undefined_for_one_policy_is_left_out_of_the_correction() -> None:
    analysis = _analysed()

    def statistic(variant: PolicyVariant) -> Statistic:
        undefined = np.nan if variant.name == "flare" else 0.0
        return lambda splits: splits.test.of("f1")[:, variant.candidates[0]] + undefined

    compared = {each.variant.name: each for each in analysis.compare(statistic)}
    assert compared["flare"].difference == Corrected(None)
    p_values = [each.difference.p for each in compared.values() if each.difference.p is not None]
    others = [p for each in compared.values() if (p := each.difference.holm) is not None]
    assert len(p_values) == 3
    assert others == holm(p_values)
