from collections.abc import Sequence
from dataclasses import replace

import pytest

from scaar.evaluator.records import Setting
from scaar.evaluator.report.analysis import Analysis, analyse
from scaar.evaluator.report.builder import compose
from scaar.evaluator.report.failures import FailureCount
from scaar.evaluator.report.model import Cell, Figure, Report, ReportOptions, Table
from scaar.evaluator.results import LeftOut
from scaar.evaluator.studies.joining.axes import axes_of
from scaar.evaluator.studies.joining.evaluations import Joined
from scaar.evaluator.studies.joining.report import compose_joined

from ..simulated import (
    GRID,
    SETTINGS,
    draw_questions,
    draw_scores,
    evaluation_of,
    setting,
    table_of,
)

QUESTIONS = draw_questions(80)


def _analysis(
    settings: Sequence[Setting],
    *,
    model: str = "lab-lm",
    seed: int = 0,
    left_out: tuple[LeftOut, ...] = (),
) -> Analysis:
    evaluation = evaluation_of(QUESTIONS, settings)
    made = {label: replace(each, model=model) for label, each in evaluation.provenance.items()}
    table = table_of(QUESTIONS, settings, draw_scores(QUESTIONS, settings, seed=seed))
    evaluation = replace(evaluation, provenance=made, left_out=left_out)
    return analyse(evaluation, table, ReportOptions(resamples=100))


def _joined(*analyses: Analysis) -> Joined:
    names = tuple(f"folder-{at}" for at in range(len(analyses)))
    evaluations = (each.evaluation for each in analyses)
    return Joined(names, analyses, axes_of(dict(zip(names, evaluations, strict=True))))


def _table(report: Report, name: str) -> Table:
    return next(table for table in report.tables() if table.name == name)


def _rows(table: Table) -> list[dict[str, Cell]]:
    """The rows by column, without marks and links."""
    names = [column.name for column in table.columns]
    return [
        dict(zip(names, (replace(cell, best=False, link="") for cell in cells), strict=True))
        for cells in table.rows
    ]


MODELS = tuple(_analysis(SETTINGS, model=name, seed=at) for at, name in enumerate("ab"))
TWO = compose_joined(_joined(*MODELS))


def test_every_figure_equals_that_of_the_evaluation_s_own_report() -> None:
    rows = _rows(_table(TWO, "joined_policies"))
    for analysis, model in zip(MODELS, "ab", strict=True):
        own = compose(analysis, FailureCount())
        mine = {row["policy"].value: row for row in rows if row["model"].value == model}
        chosen = {row["policy"].value: row for row in _rows(_table(own, "policies"))}
        matched = {row["policy"].value: row for row in _rows(_table(own, "matched_retrievals"))}
        areas = {row["policy"].value: row for row in _rows(_table(own, "area_searches"))}
        assert list(mine) == list(chosen)
        for policy, row in mine.items():
            for name in ("exact_match", "f1", "retrievals"):
                assert row[name] == chosen[policy][name]
            for name in ("at_0.5", "at_1", "at_1.5", "at_2"):
                expected = matched.get(policy, {}).get(name, Cell(None, note="not reached"))
                assert row[name] == expected
            assert row["area"] == (areas[policy]["area"] if policy in areas else row["area"])
            assert (row["area"].value is None) == (policy not in areas)


def test_a_policy_that_a_model_cannot_serve_has_a_row_without_figures() -> None:
    lacking = LeftOut(setting("scaar", theta=0.2), "attention")
    served = [each for each in SETTINGS if each.policy.name != "scaar"]
    report = compose_joined(
        _joined(MODELS[0], _analysis(served, model="black", left_out=(lacking,)))
    )
    (row,) = [
        each
        for each in _rows(_table(report, "joined_policies"))
        if (each["model"].value, each["policy"].value) == ("black", "scaar")
    ]
    assert row["f1"] == Cell(None, note="not served")
    message = " ".join(x for part in report.sections for x in part.items if isinstance(x, str))
    assert "Left out of folder-1 because its model cannot serve them" in message
    assert "scaar:theta=0.2 (lacking: attention)" in message


def test_wins_are_counted_over_all_and_in_each() -> None:
    analyses = [_analysis(GRID, model=name, seed=at) for at, name in enumerate("abc")]
    report = compose_joined(_joined(*analyses))
    wins = _rows(_table(report, "wins"))
    # Three queries at two thetas for each of two kinds, in three models.
    assert sum(row["won"].value for row in wins) == pytest.approx(36)  # type: ignore[misc]
    each = _rows(_table(report, "wins_by_evaluation"))
    for row in wins:
        name = str(row["trigger"].value)
        assert sum(one[name].value for one in each) == pytest.approx(row["won"].value)  # type: ignore[misc]
    assert {one["contests"].value for one in each} == {12}


def test_one_number_makes_a_table_and_a_figure_over_it() -> None:
    analyses = [
        _analysis((SETTINGS[0], setting("scaar", theta=0.4, top_k=count)), seed=count)
        for count in (5, 1, 2)
    ]
    report = compose_joined(_joined(*analyses))
    assert "By top_k" in [part.title for part in report.sections]
    table = _table(report, "sweep_f1")
    assert [column.name for column in table.columns] == ["policy", "1", "2", "5"]
    figure = next(each for each in report.figures() if each.name == "sweep_f1")
    assert isinstance(figure, Figure)
    for series, cells in zip(figure.series, table.rows, strict=True):
        assert [point.x for point in series.points] == [1, 2, 5]
        assert [point.y for point in series.points] == [cell.value for cell in cells[1:]]


def test_a_number_is_swept_for_each_model_separately() -> None:
    analyses = [
        _analysis((SETTINGS[0], setting("scaar", theta=0.4, top_k=count)), model=model)
        for model in "ab"
        for count in (1, 5)
    ]
    report = compose_joined(_joined(*analyses))
    titles = [part.title for part in report.sections]
    assert {"By top_k (model a)", "By top_k (model b)"} <= set(titles)
    names = [each.name for each in (*report.tables(), *report.figures())]
    assert {"sweep_f1", "sweep_f1_2"} <= set(names)


def test_models_alone_have_no_sweep_and_no_wins_where_triggers_never_meet() -> None:
    names = {table.name for table in TWO.tables()}
    assert names == {"joined_policies", "joined_evaluations"}
    for table in TWO.tables():
        assert all(len(cells) == len(table.columns) for cells in table.rows)
