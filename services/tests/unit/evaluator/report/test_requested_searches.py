"""The table of the searches that the model requested."""

from collections.abc import Mapping

import pytest

from scaar.core.types import Usage
from scaar.evaluator.records import Question, Score, Setting
from scaar.evaluator.report.analysis import analyse
from scaar.evaluator.report.builder import compose
from scaar.evaluator.report.failures import FailureCount
from scaar.evaluator.report.model import Cell, ReportOptions, Table
from scaar.evaluator.report.requested_searches import requested_searches_table
from scaar.evaluator.scoring.detection import JudgedDraftsBuilder

from ..simulated import evaluation_of, setting, table_of

SETTINGS = (setting("no_retrieval"), setting("model_asks"))
QUESTIONS = [Question(f"q{number:02}", "Who?", ("A",), f"film {number}") for number in range(40)]


def score(setting: Setting, question: Question, *, right: bool, searches: int) -> Score:
    usage = Usage(searches, 1 + searches, 9, 9, 1.0, searches=searches)
    values = {"exact_match": float(right), "f1": float(right)}
    return Score(setting.label, question.id, values, usage)


def scores(
    right: Mapping[str, bool],
    searched: Mapping[str, bool],
    settings: tuple[Setting, ...] = SETTINGS,
) -> list[Score]:
    """Return scores by whether the model knows a question, and whether it searches for it."""
    return [
        score(each, question, right=right[question.id], searches=asks * searched[question.id])
        for each in settings
        for question in QUESTIONS
        for asks in [each.policy.name == "model_asks"]
    ]


def table(made: list[Score], settings: tuple[Setting, ...] = SETTINGS) -> Table | None:
    analysis = analyse(
        evaluation_of(QUESTIONS, settings),
        table_of(QUESTIONS, settings, made),
        ReportOptions(resamples=100),
    )
    found = requested_searches_table(analysis)
    drafts = JudgedDraftsBuilder(QUESTIONS, settings)
    report = compose(analysis, FailureCount(), drafts)
    assert (found is not None) == ("requested_searches" in {each.name for each in report.tables()})
    return found


def row(made: list[Score]) -> dict[str, Cell]:
    found = table(made)
    assert found is not None
    (cells,) = found.rows
    return {column.name: cell for column, cell in zip(found.columns, cells, strict=True)}


def test_searches_for_known_questions_are_avoidable_and_none_for_unknown_ones_missed() -> None:
    known = {each.id: int(each.id[1:]) % 4 < 2 for each in QUESTIONS}
    searched = {each.id: int(each.id[1:]) % 4 in (1, 2) for each in QUESTIONS}
    cells = row(scores(known, searched))
    assert cells["policy"].value == "model_asks"
    # Half are known, half are searched, and each of the four combinations occurs; on the test
    # split, which is drawn by entity, about as often.
    tested = [cells[name].value for name in ("searched", "avoidable", "missed")]
    assert tested == pytest.approx([0.5, 0.5, 0.5], abs=0.25)
    assert all(cells[name].low is not None for name in ("searched", "avoidable", "missed"))


@pytest.mark.parametrize("known", [True, False])
def test_a_model_that_searches_for_exactly_what_it_does_not_know(known: bool) -> None:
    right = {each.id: int(each.id[1:]) % 2 == known for each in QUESTIONS}
    cells = row(scores(right, {name: not value for name, value in right.items()}))
    assert (cells["avoidable"].value, cells["missed"].value) == (0, 0)


def test_a_model_that_always_searches_misses_none() -> None:
    every = {each.id: True for each in QUESTIONS}
    cells = row(scores(every, every))
    assert (cells["searched"].value, cells["avoidable"].value) == (1, 1)
    assert (cells["missed"].value, cells["missed"].note) == (None, "none")


def test_without_closed_book_answers_or_without_requests_there_is_no_table() -> None:
    every = {each.id: True for each in QUESTIONS}
    for settings in (SETTINGS[:1], SETTINGS[1:], (SETTINGS[0], setting("single_round"))):
        assert table(scores(every, every, settings), settings) is None
