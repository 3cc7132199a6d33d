from collections.abc import Sequence
from dataclasses import replace

import pytest

from scaar.core.controls import Control
from scaar.core.types import Formulation, Query, Trigger
from scaar.evaluator.planning.scorers import with_scorers
from scaar.evaluator.records import Decision, Failure, Prediction, Question, Score, Setting
from scaar.evaluator.report.analysis import analyse
from scaar.evaluator.report.composing import compose
from scaar.evaluator.report.failures import FailureCount
from scaar.evaluator.report.model import Cell, Figure, Report, Table
from scaar.evaluator.report.options import ReportOptions

from ..simulated import (
    GRID,
    NOTHING_SPENT,
    SETTINGS,
    THETAS,
    draw_predictions,
    draw_questions,
    draw_scores,
    evaluation_of,
    setting,
    table_of,
)


def _report(
    questions: Sequence[Question],
    settings: Sequence[Setting],
    scores: Sequence[Score] | None = None,
    predictions: Sequence[Prediction] = (),
) -> Report:
    failures = FailureCount()
    for prediction in predictions:
        failures.add(prediction)
    scores = tuple(draw_scores(questions, settings)) if scores is None else scores
    table = table_of(questions, settings, scores, predictions)
    evaluation = evaluation_of(questions, settings)
    return compose(analyse(evaluation, table, ReportOptions(resamples=200)), failures)


def _table(report: Report, name: str) -> Table:
    return next(table for table in report.tables() if table.name == name)


def _column(table: Table, name: str) -> dict[str, Cell]:
    at = [column.name for column in table.columns].index(name)
    return {str(cells[0].value): cells[at] for cells in table.rows}


def _text(report: Report) -> str:
    return " ".join(
        item for part in report.sections for item in part.items if isinstance(item, str)
    )


QUESTIONS = draw_questions(160)
WHOLE = _report(QUESTIONS, SETTINGS, predictions=tuple(draw_predictions(QUESTIONS, SETTINGS)))


def test_every_table_has_a_cell_for_every_column() -> None:
    for report in (WHOLE, _report(QUESTIONS, GRID)):
        names = [table.name for table in report.tables()]
        assert len(names) == len(set(names))
        for table in report.tables():
            assert table.rows
            for cells in table.rows:
                assert len(cells) == len(table.columns)


def test_every_policy_has_a_row_with_the_setting_chosen_for_it() -> None:
    policies = _table(WHOLE, "policies")
    names = ["no_retrieval", "single_round", "fixed_sentence", "flare", "scaar"]
    assert [cells[0].value for cells in policies.rows] == names
    for name, cell in _column(policies, "setting").items():
        assert str(cell.value).startswith(name)
    assert {name: cell.value for name, cell in _column(policies, "candidates").items()} == {
        **dict.fromkeys(names[:3], 1),
        "flare": 4,
        "scaar": 8,
    }


def test_s_eff_is_the_gain_over_no_retrieval_for_a_retrieval() -> None:
    policies = _table(WHOLE, "policies")
    f1, spent = _column(policies, "f1"), _column(policies, "retrievals")
    for name, cell in _column(policies, "s_eff").items():
        if name == "no_retrieval":
            assert (cell.value, cell.note) == (None, "undefined")
        else:
            gain = 100 * (f1[name].value - f1["no_retrieval"].value)  # type: ignore[operator]
            assert cell.value == pytest.approx(gain / spent[name].value)  # type: ignore[operator]


def test_what_a_policy_cannot_reach_is_said_so() -> None:
    matched = _table(WHOLE, "matched_retrievals")
    assert _column(matched, "at_1")["single_round"].value is not None
    assert _column(matched, "at_0.5")["single_round"] == Cell(None, note="not reached")
    assert _column(matched, "at_1")["flare"].low is not None
    assert {cells[0].value for cells in _table(WHOLE, "matched_differences").rows} >= {"1", "1.5"}


def test_the_halves_the_candidates_and_too_few_questions_are_named() -> None:
    text = _text(WHOLE)
    assert "160 questions were split into halves" in text
    assert "1 or 4 or 8 candidates" in text
    assert "Warning: 160 questions only. A report of record has at least 2,000" in text


def test_failures_are_counted_all_and_listed_the_first() -> None:
    predictions = tuple(draw_predictions(QUESTIONS, SETTINGS))
    failed = {(each.setting, each.question_id) for each in predictions if each.failure}
    scores = [
        Score(score.setting, score.question_id, {}, NOTHING_SPENT, failed=True)
        if (score.setting, score.question_id) in failed
        else score
        for score in draw_scores(QUESTIONS, SETTINGS)
    ]
    report = _report(QUESTIONS, SETTINGS, scores, predictions)
    assert "Of 2,400 predictions 45 failed and none are missing." in _text(report)
    counted = _table(report, "failures")
    assert sum(cells[2].value for cells in counted.rows) == 45  # type: ignore[misc]
    assert len(_table(report, "failures_listed").rows) == 20


def test_every_label_is_broken_down_on_the_test_half() -> None:
    few = _report(QUESTIONS, SETTINGS[:2])
    kinds = _table(few, "by_kind_score")
    assert [cells[0].value for cells in kinds.rows] == ["one_hop", "two_hop"]
    tested = sum(cells[1].value for cells in kinds.rows)  # type: ignore[misc]
    assert f"{160 - int(tested)} for development" in _text(few)
    assert [c.name for c in kinds.columns[2:]] == [c[0].value for c in _table(few, "policies").rows]


def test_more_policies_than_values_of_a_label_go_down_the_page() -> None:
    few, many = (
        _table(each, "by_kind_score") for each in (_report(QUESTIONS, SETTINGS[:2]), WHOLE)
    )
    assert [c[0].value for c in many.rows] == [c[0].value for c in _table(WHOLE, "policies").rows]
    assert [column.name for column in many.columns[1:]] == ["one_hop", "two_hop"]
    counts = {str(cells[0].value): cells[1].value for cells in few.rows}
    assert [column.title for column in many.columns[1:]] == [
        f"{kind} ({count})" for kind, count in counts.items()
    ]
    for at, cells in enumerate(few.rows, 1):
        assert cells[2:] == tuple(row[at] for row in many.rows[:2])


def test_the_best_of_every_row_and_column_of_combinations_is_marked() -> None:
    table = _table(_report(QUESTIONS, GRID), "combinations")
    assert [cells[0].value for cells in table.rows] == ["flare", "exp_raw", "surprisal"]
    grid = [cells[1:] for cells in table.rows]
    for cells in grid:
        best = max(cells, key=lambda cell: cell.value)  # type: ignore[arg-type,return-value]
        assert "best of row" in best.note
    for column in zip(*grid, strict=True):
        best = max(column, key=lambda cell: cell.value)  # type: ignore[arg-type,return-value]
        assert "best of column" in best.note
        assert sum("best of column" in cell.note for cell in column) == 1


def test_as_many_contests_are_won_as_are_held() -> None:
    report = _report(QUESTIONS, GRID)
    wins = _table(report, "wins")
    # Three queries at two thetas for each of two kinds.
    assert sum(cells[1].value for cells in wins.rows) == pytest.approx(12)  # type: ignore[misc]
    assert next(figure for figure in report.figures() if figure.name == "wins")


def test_a_control_of_the_scorer_is_a_policy_and_no_trigger_of_its_own() -> None:
    settings = with_scorers(GRID, (Control.PERMUTED, None))
    # The control answers everything: it would win wherever it is let in.
    scores = [
        replace(each, values={"exact_match": 1.0, "f1": 1.0}) if "scorer=" in each.setting else each
        for each in draw_scores(QUESTIONS, settings)
    ]
    alone, beside = _report(QUESTIONS, GRID), _report(QUESTIONS, settings, scores)
    assert "scaar:scorer=permuted" in [c[0].value for c in _table(beside, "policies").rows]
    for name in ("combinations", "wins"):
        assert _table(beside, name).rows == _table(alone, name).rows


def test_capped_words_are_counted_where_the_cap_can_set_a_threshold() -> None:
    capped = _table(WHOLE, "capped_words")
    labels = [each.label for each in SETTINGS if each.policy.name == "scaar"]
    assert [cells[0].value for cells in capped.rows] == labels
    for cell in _column(capped, "capped").values():
        assert 0.1 < float(cell.value or 0) < 0.3


def test_what_made_it_is_named() -> None:
    made = {str(cells[0].value): cells[1].value for cells in _table(WHOLE, "made_by").rows}
    assert made["model"] == "lab-lm 3f2a (onnx)"
    assert made["scorer"] == "lab-cross-encoder 9c1d"
    assert made["index"] == "lab f0e1d2c3"
    assert made["begun"] == "2026-05-01T12:00:00Z"
    assert made["resampling"] == "200 draws, seed 0"


def test_thetas_of_another_scale_have_figures_of_their_own() -> None:
    settings = (
        *(setting("flare", theta=theta) for theta in (0.4, 0.8)),
        *(setting("flare", theta=theta, trigger=Trigger.RIND) for theta in (0.9, 1.4)),
        *(setting("flare", theta=theta, trigger=Trigger.PERPLEXITY) for theta in (1.5, 3.0)),
    )
    figures = [
        (figure.name, [series.name for series in figure.series])
        for figure in _report(QUESTIONS, settings).figures()
        if isinstance(figure, Figure) and figure.name.startswith("theta_f1")
    ]
    assert figures == [
        ("theta_f1", ["flare"]),
        ("theta_f1_2", ["flare:trigger=rind"]),
        ("theta_f1_3", ["flare:trigger=perplexity"]),
    ]


def test_settings_that_differ_in_two_values_make_no_curve() -> None:
    settings = (
        setting("scaar", theta=0.4, theta_cap=0.9),
        setting("scaar", theta=0.6, theta_cap=0.99),
    )
    names = [figure.name for figure in _report(QUESTIONS, settings).figures()]
    assert names == ["frontier_retrievals", "frontier_tokens"]


def test_one_policy_is_compared_with_nobody() -> None:
    report = _report(QUESTIONS, tuple(setting("flare", theta=theta) for theta in THETAS))
    names = {table.name for table in report.tables()}
    assert names.isdisjoint({"differences", "matched_differences", "combinations", "wins"})
    assert _column(_table(report, "policies"), "s_eff")["flare"] == Cell(None, note="undefined")
    assert _column(_table(report, "area_retrievals"), "difference")["flare"].value == "reference"


def test_one_setting_has_no_figure_and_no_frontier() -> None:
    report = _report(QUESTIONS, (setting("scaar", theta=0.4),))
    assert report.figures() == ()
    area = next(part for part in report.sections if part.title == "At equal cost").items[-1]
    assert isinstance(area, Table)
    assert area.rows == ()
    assert "No policy has a frontier" in area.note


def test_a_policy_that_never_retrieves_is_reported_at_0() -> None:
    report = _report(QUESTIONS, SETTINGS[:1])
    policies = _table(report, "policies")
    assert _column(policies, "retrievals")["no_retrieval"].value == 0
    assert _column(policies, "s_eff")["no_retrieval"].note == "undefined"


def test_one_question_is_reported_with_what_that_is_worth() -> None:
    report = _report(QUESTIONS[:1], SETTINGS)
    assert "1 question could not be split into halves" in _text(report)
    assert "looks better than it is" in _text(report)
    assert "Warning: 1 question only." in _text(report)


def test_questions_without_labels_are_not_broken_down() -> None:
    bare = [replace(question, labels=()) for question in QUESTIONS]
    report = _report(bare, SETTINGS)
    assert "By kind of question" not in [part.title for part in report.sections]
    assert _table(_report(bare, GRID), "wins").note.startswith("6 contests")


def test_labels_with_any_name_make_files_with_plain_names() -> None:
    odd = [replace(question, labels=(("Größe / ../x", "a"),)) for question in QUESTIONS]
    names = [table.name for table in _report(odd, SETTINGS).tables()]
    assert "by_gr_e_x_score" in names


def test_labels_whose_plain_names_are_the_same_have_files_of_their_own() -> None:
    odd = [replace(question, labels=(("a b", "1"), ("a/b", "2"))) for question in QUESTIONS]
    names = [table.name for table in _report(odd, SETTINGS).tables()]
    assert len(names) == len(set(names))


def test_an_evaluation_that_failed_whole_is_reported_as_0() -> None:
    failure = Failure("BACKEND_UNAVAILABLE", "no generator")
    scores = [
        Score(each.label, question.id, {}, NOTHING_SPENT, failed=True)
        for each in SETTINGS
        for question in QUESTIONS
    ]
    predictions = [
        Prediction(score.setting, score.question_id, "", "", NOTHING_SPENT, failure=failure)
        for score in scores
    ]
    report = _report(QUESTIONS, SETTINGS, scores, predictions)
    assert {cell.value for cell in _column(_table(report, "policies"), "f1").values()} == {0.0}
    assert "2,400 predictions 2,400 failed" in _text(report)


def test_predictions_that_are_missing_are_counted() -> None:
    scores = tuple(draw_scores(QUESTIONS, SETTINGS))[:-3]
    report = _report(QUESTIONS, SETTINGS, scores)
    assert "Of 2,400 predictions none failed and 3 are missing." in _text(report)


def test_the_order_of_what_is_given_changes_nothing() -> None:
    scores = tuple(draw_scores(QUESTIONS, SETTINGS))
    assert _report(QUESTIONS, SETTINGS, scores) == _report(QUESTIONS[::-1], SETTINGS, scores[::-1])


def test_what_retrievals_brought_is_told_where_supports_are_known() -> None:
    assert not [table for table in WHOLE.tables() if table.name == "brought"]
    questions = [replace(each, supports=("a", "b")) for each in QUESTIONS]
    found = {"single_round": ("a", "x"), "fixed_sentence": ("a", "b")}
    predictions = [
        replace(
            each,
            decisions=(
                Decision(
                    "A.", query=Query("who", Formulation.QUESTION), passage_ids=found[each.setting]
                ),
                Decision("B."),
            ),
        )
        for each in draw_predictions(questions, SETTINGS[1:3])
    ]
    brought = _table(_report(questions, SETTINGS, predictions=predictions), "brought")
    shares = _column(brought, "supports_found")
    assert shares["single_round"].value == 0.5
    assert shares["fixed_sentence"].value == 1
    assert _column(brought, "retrievals_with_support")["no_retrieval"].note == "none"
    without = _column(brought, "score_without_all")
    assert _column(brought, "questions_with_all")["single_round"].value == 0
    assert (without["fixed_sentence"].note, without["single_round"].note) == ("none", "")
