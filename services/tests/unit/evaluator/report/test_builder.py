from collections.abc import Sequence
from dataclasses import replace

import pytest

from scaar.core.controls import Control
from scaar.core.types import NOT_IN_DOCUMENTS, Abstention, AttentionSpan, JudgedWord, Query
from scaar.evaluator.oracles import oracle_parts
from scaar.evaluator.planning.axes import with_scorers
from scaar.evaluator.records import Decision, Failure, Prediction, Question, Score, Setting
from scaar.evaluator.report.abstentions import AbstentionCount
from scaar.evaluator.report.analysis import analyse
from scaar.evaluator.report.builder import compose
from scaar.evaluator.report.failures import FailureCount
from scaar.evaluator.report.model import Cell, Figure, Report, ReportOptions, Table
from scaar.evaluator.scoring.detection import JudgedDraftsBuilder

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


def test_every_policy_has_a_row_with_its_chosen_setting() -> None:
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


def test_budgets_that_a_policy_does_not_reach_are_marked() -> None:
    matched = _table(WHOLE, "matched_retrievals")
    assert _column(matched, "at_1")["single_round"].value is not None
    assert _column(matched, "at_0.5")["single_round"] == Cell(None, note="not reached")
    assert _column(matched, "at_1")["flare"].low is not None
    assert "no_retrieval" not in _column(matched, "at_1")
    assert "Not listed, since they reach no budget: no_retrieval" in matched.note
    assert {cells[1].value for cells in _table(WHOLE, "matched_differences").rows} >= {1.0, 1.5}


def test_the_splits_the_candidates_and_too_few_questions_are_named() -> None:
    text = _text(WHOLE)
    assert "160 questions were split by entity" in text
    assert "1 or 4 or 8 candidate settings" in text
    assert "Warning: only 160 questions. A report of record has at least 2,000" in text


def test_all_failures_are_counted_and_the_first_are_listed() -> None:
    predictions = tuple(draw_predictions(QUESTIONS, SETTINGS))
    failed = {(each.setting, each.question_id) for each in predictions if each.failure}
    scores = [
        Score(score.setting, score.question_id, {}, NOTHING_SPENT, failed=True)
        if (score.setting, score.question_id) in failed
        else score
        for score in draw_scores(QUESTIONS, SETTINGS)
    ]
    report = _report(QUESTIONS, SETTINGS, scores, predictions)
    assert "Of 2,400 predictions, 45 failed and none are missing." in _text(report)
    counted = _table(report, "failures")
    assert sum(cells[2].value for cells in counted.rows) == 45  # type: ignore[misc]
    assert len(_table(report, "failures_listed").rows) == 20


def test_every_label_is_broken_down_on_the_test_split() -> None:
    few = _report(QUESTIONS, SETTINGS[:2])
    kinds = _table(few, "by_kind_score")
    assert [cells[0].value for cells in kinds.rows] == ["one_hop", "two_hop"]
    tested = sum(cells[1].value for cells in kinds.rows)  # type: ignore[misc]
    assert f"{160 - int(tested)} for development" in _text(few)
    assert [c.name for c in kinds.columns[2:]] == [c[0].value for c in _table(few, "policies").rows]


def test_more_policies_than_values_of_a_label_make_the_rows() -> None:
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
        # The best of two policies need not be the best of all.
        assert [replace(cell, best=False) for cell in cells[2:]] == [
            replace(row[at], best=False) for row in many.rows[:2]
        ]


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


def test_the_span_of_attention_is_part_of_a_trigger() -> None:
    settings = tuple(
        setting("dragin", query=query, attention_span=span)
        for query in ("pfq", "current_sentence")
        for span in AttentionSpan
    )
    table = _table(_report(QUESTIONS, settings), "combinations")
    assert [cells[0].value for cells in table.rows] == ["rind", "rind over the draft"]


def test_every_contest_is_won() -> None:
    report = _report(QUESTIONS, GRID)
    wins = _table(report, "wins")
    # Three queries at two thetas for each of two kinds.
    assert sum(cells[1].value for cells in wins.rows) == pytest.approx(12)  # type: ignore[misc]
    assert next(figure for figure in report.figures() if figure.name == "wins")


def test_a_scorer_control_is_a_policy_but_not_a_trigger() -> None:
    settings = with_scorers(GRID, (Control.PERMUTED, None))
    # The control answers everything: it would win every contest that it enters.
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


def test_the_provenance_lists_models_index_and_seeds() -> None:
    made = {str(cells[0].value): cells[1].value for cells in _table(WHOLE, "made_by").rows}
    assert made["model"] == "lab-lm 3f2a (onnx)"
    assert made["scorer"] == "lab-cross-encoder 9c1d"
    assert made["index"] == "lab f0e1d2c3"
    assert made["started"] == "2026-05-01T12:00:00Z"
    assert made["bootstrap"] == "200 samples, seed 0"


def test_thetas_on_different_scales_have_their_own_figures() -> None:
    settings = (
        *(setting("flare", theta=theta) for theta in (0.4, 0.8)),
        *(setting("flare", theta=theta, trigger="rind") for theta in (0.9, 1.4)),
        *(setting("flare", theta=theta, trigger="perplexity") for theta in (1.5, 3.0)),
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


def test_every_query_with_alpha_has_its_own_curve_by_alpha() -> None:
    settings = (
        *(setting("scaar", alpha=alpha) for alpha in (25.0, 75.0)),
        *(setting("scaar", alpha=alpha, query="bridged") for alpha in (25.0, 75.0)),
        *(setting("scaar", alpha=alpha, query="fused") for alpha in (25.0, 75.0)),
    )
    figures = {each.name: each for each in _report(QUESTIONS, settings).figures()}
    found = figures["alpha_f1"]
    assert isinstance(found, Figure)
    assert [series.name for series in found.series] == [
        *("scaar", "scaar:query=bridged", "scaar:query=fused"),
    ]
    assert all([point.x for point in series.points] == [25.0, 75.0] for series in found.series)


def test_settings_that_differ_in_two_values_make_no_curve() -> None:
    settings = (
        setting("scaar", theta=0.4, theta_cap=0.9),
        setting("scaar", theta=0.6, theta_cap=0.99),
    )
    names = [figure.name for figure in _report(QUESTIONS, settings).figures()]
    assert names == ["frontier_retrievals", "frontier_tokens"]


def test_a_single_policy_has_no_comparison() -> None:
    report = _report(QUESTIONS, tuple(setting("flare", theta=theta) for theta in THETAS))
    names = {table.name for table in report.tables()}
    assert names.isdisjoint({"differences", "matched_differences", "combinations", "wins"})
    assert _column(_table(report, "policies"), "s_eff")["flare"] == Cell(None, note="undefined")
    assert [column.name for column in _table(report, "area_searches").columns] == [
        "policy",
        "area",
    ]


def test_one_setting_has_no_figure_and_no_frontier() -> None:
    report = _report(QUESTIONS, (setting("scaar", theta=0.4),))
    assert report.figures() == ()
    section = next(each for each in report.sections if each.title == "Comparison at matched cost")
    assert str(section.items[-2]).startswith("No policy has a frontier against searches")
    assert str(section.items[-1]).startswith("No policy has a frontier against tokens")


def test_a_policy_that_never_retrieves_is_reported_at_0() -> None:
    report = _report(QUESTIONS, SETTINGS[:1])
    policies = _table(report, "policies")
    assert _column(policies, "retrievals")["no_retrieval"].value == 0
    assert _column(policies, "s_eff")["no_retrieval"].note == "undefined"


def test_a_report_of_one_question_warns_about_it() -> None:
    report = _report(QUESTIONS[:1], SETTINGS)
    assert "1 question could not be split by entity" in _text(report)
    assert "look better than they are" in _text(report)
    assert "Warning: only 1 question." in _text(report)


def test_questions_without_labels_are_not_broken_down() -> None:
    bare = [replace(question, labels=()) for question in QUESTIONS]
    report = _report(bare, SETTINGS)
    assert "By kind of question" not in [part.title for part in report.sections]
    assert _table(_report(bare, GRID), "wins").note.startswith("6 contests")


def test_labels_with_any_name_make_files_with_plain_names() -> None:
    odd = [replace(question, labels=(("Größe / ../x", "a"),)) for question in QUESTIONS]
    names = [table.name for table in _report(odd, SETTINGS).tables()]
    assert "by_gr_e_x_score" in names


def test_labels_with_the_same_plain_name_have_their_own_files() -> None:
    odd = [replace(question, labels=(("a b", "1"), ("a/b", "2"))) for question in QUESTIONS]
    names = [table.name for table in _report(odd, SETTINGS).tables()]
    assert len(names) == len(set(names))


def test_an_evaluation_without_a_success_scores_0() -> None:
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
    assert "2,400 predictions, 2,400 failed" in _text(report)


def test_missing_predictions_are_counted() -> None:
    scores = tuple(draw_scores(QUESTIONS, SETTINGS))[:-3]
    report = _report(QUESTIONS, SETTINGS, scores)
    assert "Of 2,400 predictions, none failed and 3 are missing." in _text(report)


def test_the_order_of_questions_and_scores_changes_nothing() -> None:
    scores = tuple(draw_scores(QUESTIONS, SETTINGS))
    assert _report(QUESTIONS, SETTINGS, scores) == _report(QUESTIONS[::-1], SETTINGS, scores[::-1])


WRITTEN = Decision("B.")


def test_support_recall_is_reported_if_supports_are_known() -> None:
    assert not [table for table in WHOLE.tables() if table.name == "brought"]
    questions = [replace(each, supports=("a", "b")) for each in QUESTIONS]
    found = {"single_round": ("a", "x"), "fixed_sentence": ("a", "b")}
    predictions = [
        replace(
            each,
            decisions=(
                Decision("A.", query=Query("who", "question"), passage_ids=found[each.setting]),
                WRITTEN,
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


def test_excluded_supports_are_counted() -> None:
    questions = [replace(each, supports=("a", "b")) for each in QUESTIONS]
    retrieved = Decision("A.", query=Query("who", "question"), passage_ids=("a",))
    later = replace(retrieved, passage_ids=("x",), excluded_ids=("a",))
    predictions = [
        replace(
            each, decisions=(retrieved, later if each.setting == SETTINGS[2].label else WRITTEN)
        )
        for each in draw_predictions(questions, SETTINGS[1:3])
    ]
    report = _report(questions, SETTINGS, predictions=predictions)
    (table,) = [each for each in report.tables() if each.name == "excluded_supports"]
    ((policy, retrievals, excluding, losing),) = table.rows
    assert policy.value == SETTINGS[2].policy.name
    assert retrievals.value == 2 * excluding.value == 2 * losing.value > 0
    assert not [each for each in WHOLE.tables() if each.name == "excluded_supports"]


def test_no_section_is_empty_and_no_table_is_without_rows() -> None:
    single = _report(QUESTIONS, (setting("scaar", theta=0.4),))
    for report in (WHOLE, single, _report(QUESTIONS, GRID), _report(QUESTIONS[:1], SETTINGS)):
        assert all(section.items for section in report.sections)
        assert all(table.rows for table in (*report.tables(), *report.listings))


def test_the_verdict_names_the_best_policy_and_compares_it_with_the_reference() -> None:
    policies = _table(WHOLE, "policies")
    f1, spent = _column(policies, "f1"), _column(policies, "retrievals")
    best = max(f1, key=lambda name: f1[name].value)  # type: ignore[arg-type,return-value]
    assert WHOLE.verdict is not None
    facts = {each.name: each for each in WHOLE.verdict.facts}
    assert facts["best policy"].value == best
    assert facts["F1"].value == f"{f1[best].value:.3f}"
    assert facts["F1"].note == f"[{f1[best].low:.3f}, {f1[best].high:.3f}]"
    assert facts["retrievals per question"].value == f"{spent[best].value:.2f}"
    differences = _table(WHOLE, "differences")
    (p,) = (each for each in WHOLE.verdict.facts if each.name.startswith("p against"))
    other = best if best != "scaar" else p.name.removeprefix("p against ")
    assert p.value == f"{_column(differences, 'p_holm')[other].value:.4f}"
    assert WHOLE.verdict.headline.startswith(
        f"{best} has the highest score: F1 {f1[best].value:.3f}"
    )


def test_an_oracle_is_not_the_best_policy() -> None:
    names = ("no_retrieval", "flare")
    served = tuple(each for each in SETTINGS if each.policy.name in names)
    with oracle_parts():
        oracles = setting("oracle_error", theta=1.0), setting("flare", theta=0.4, query="oracle")
        settings = (*served, *oracles)
        known = [
            replace(each, values={**each.values, "f1": 1.0}) if "oracle" in each.setting else each
            for each in draw_scores(QUESTIONS, settings)
        ]
        verdict = _report(QUESTIONS, settings, known).verdict
    assert verdict is not None
    assert {each.name: each.value for each in verdict.facts}["best policy"] == "flare"
    assert verdict.headline.endswith(" Oracles are left out here.")


def test_a_best_policy_that_is_the_reference_is_compared_with_the_second_best() -> None:
    settings = tuple(each for each in SETTINGS if each.policy.name in ("no_retrieval", "scaar"))
    verdict = _report(QUESTIONS, settings).verdict
    assert verdict is not None
    assert [each.name for each in verdict.facts][-1] == "p against no_retrieval"
    assert "is significant at 0.05 (p = 0.0" in verdict.headline
    assert "difference from no_retrieval, +0." in verdict.headline


def test_a_tie_goes_to_the_policy_with_fewer_retrievals() -> None:
    scores = [
        replace(each, values={"exact_match": 1.0, "f1": 1.0})
        for each in draw_scores(QUESTIONS, SETTINGS[:3])
    ]
    verdict = _report(QUESTIONS, SETTINGS[:3], scores).verdict
    assert verdict is not None
    assert verdict.headline.startswith(
        "no_retrieval has the highest score, F1 1.000 [1.000, 1.000] at 0.00 retrievals per "
        "question, tied with single_round and fixed_sentence."
    )


def test_a_single_policy_has_a_verdict_without_a_comparison() -> None:
    verdict = _report(QUESTIONS, (setting("scaar", theta=0.4),)).verdict
    assert verdict is not None
    assert [each.name for each in verdict.facts] == ["policy", "F1", "retrievals per question"]
    assert "difference" not in verdict.headline
    assert "test questions cannot show small differences" in verdict.caution


def test_the_best_values_are_marked() -> None:
    for name, columns in (("policies", ("f1", "exact_match")), ("settings", ("f1",))):
        for column in columns:
            cells = list(_column(_table(WHOLE, name), column).values())
            best = max(cell.value for cell in cells)  # type: ignore[type-var]
            assert [cell.best for cell in cells] == [cell.value == best for cell in cells]


def test_values_that_are_all_the_same_have_no_best() -> None:
    scores = [replace(each, values={"exact_match": 0.0, "f1": 0.0}) for each in _scores()]
    cells = _column(_table(_report(QUESTIONS, SETTINGS, scores), "policies"), "f1")
    assert not any(cell.best for cell in cells.values())


def _scores() -> list[Score]:
    return list(draw_scores(QUESTIONS, SETTINGS))


def test_cells_link_to_the_questions_behind_them() -> None:
    listings = {each.name: each for each in WHOLE.listings}
    f1 = _column(_table(WHOLE, "policies"), "f1")["flare"]
    listing = listings[f1.link]
    scores = [float(cell.value or 0) for cell in _column(listing, "score").values()]
    assert listing.title.startswith("flare: the 50 lowest-scoring of ")
    assert scores == sorted(scores)
    kinds = _table(WHOLE, "by_kind_score")
    of_kind = listings[_column(kinds, "two_hop")["flare"].link]
    kind_of = {each.id: dict(each.labels)["kind"] for each in QUESTIONS}
    assert {kind_of[str(cells[0].value)] for cells in of_kind.rows} == {"two_hop"}
    assert [c.name for c in of_kind.columns[1:-1]] == [c[0].value for c in kinds.rows]


def test_a_policy_has_one_hue_in_every_figure() -> None:
    hues: dict[str, set[int | None]] = {}
    for figure in WHOLE.figures():
        if isinstance(figure, Figure):
            for series in figure.series:
                hues.setdefault(series.name.split(",")[0], set()).add(series.hue)
    assert set(hues) == {"no_retrieval", "single_round", "fixed_sentence", "flare", "scaar"}
    assert all(len(each) == 1 for each in hues.values())


def test_detection_is_reported_where_the_truth_of_drafts_is_known() -> None:
    questions = [replace(each, labels=(("popularity", "head"),)) for each in QUESTIONS]
    word = JudgedWord("Ann", 0, 3, 0.5, 0.8, uncertain=True)
    drafts = JudgedDraftsBuilder(questions, SETTINGS)
    for prediction in draw_predictions(questions, SETTINGS):
        right = Decision("Ann.", "Ann.", (word,), score=0.9, draft_right=True, right=True)
        wrong = Decision("Bob.", "Bob.", (word,), score=0.2, draft_right=False, right=False)
        drafts.add_prediction(replace(prediction, decisions=(right, wrong)))
    analysis = analyse(
        evaluation_of(questions, SETTINGS),
        table_of(questions, SETTINGS, tuple(draw_scores(questions, SETTINGS))),
        ReportOptions(resamples=200),
    )
    table = _table(compose(analysis, FailureCount(), drafts), "detection")
    judging = ["flare", "scaar"]
    assert [str(cells[0].value) for cells in table.rows if cells[0].value in judging] == [
        each for each in judging for _ in ("all", "head")
    ]
    assert {cell.value for cell in _column(table, "auroc").values()} == {1.0}
    empty = JudgedDraftsBuilder(questions, SETTINGS)
    assert all(
        each.name != "detection" for each in compose(analysis, FailureCount(), empty).tables()
    )


def test_abstentions_are_counted_by_setting_and_are_no_section_without_one() -> None:
    questions, settings = draw_questions(20), SETTINGS
    table = table_of(questions, settings, tuple(draw_scores(questions, settings)))
    analysis = analyse(evaluation_of(questions, settings), table, ReportOptions(resamples=200))
    count, found = AbstentionCount(), next(draw_predictions(questions, settings))
    count.add(found)
    assert all(
        each.title != "Abstentions"
        for each in compose(analysis, FailureCount(), abstentions=count).sections
    )
    for p_correct in (0.1, 0.2):
        count.add(replace(found, abstained=Abstention(p_correct, 0.3)))
    count.add(replace(found, abstained=NOT_IN_DOCUMENTS))
    abstained = _table(compose(analysis, FailureCount(), abstentions=count), "abstentions")
    assert _column(abstained, "abstained")[found.setting].value == 2
    assert _column(abstained, "p_correct")[found.setting].value == pytest.approx(0.15)
    assert _column(abstained, "not_in_documents")[found.setting].value == 1
