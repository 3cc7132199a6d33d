"""``Results`` of a folder."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.evaluation import Results
from scaar.evaluator.scoring.scores import scores_of
from scaar.evaluator.scoring.summary import summaries, table_of
from scaar.evaluator.store.folder import DATABASE, read_results
from scaar.testing.evaluations import LABELS, failed, prediction, store

PARTIAL = (
    prediction(LABELS[0], "q1"),
    prediction(LABELS[1], "q1"),
    prediction(LABELS[0], "q2"),
    failed(LABELS[2], "q1"),
)
MISSING = "2 predictions are missing, counted as 0: the evaluation is not complete"


async def test_results_of_a_partial_run_report_it(tmp_path: Path) -> None:
    await store(tmp_path, PARTIAL)
    with pytest.warns(UserWarning, match=f"{tmp_path}: {MISSING}") as caught:
        results = Results.load(tmp_path)
    assert caught[0].filename == __file__
    assert results.missing == 2
    assert repr(results).endswith(": 2 questions, 4 predictions, 2 missing>")
    assert results._repr_html_().startswith(f"<p>{MISSING}</p><iframe")


async def test_figures_of_a_partial_run_are_those_of_the_command_line(tmp_path: Path) -> None:
    await store(tmp_path, PARTIAL)
    with pytest.warns(UserWarning, match="not complete"):
        results = Results.load(tmp_path)
    stored = read_results(tmp_path)
    shown = summaries(table_of(stored, scores_of(stored)), seed=stored.evaluation.dataset.seed)
    found = results.summaries()
    assert [each.means for each in found] == [each.means for each in shown]
    assert [(each.low, each.high) for each in found] == [
        (each.main.low, each.main.high) for each in shown
    ]
    compared = results.compare(*LABELS[:2])
    assert compared.value == pytest.approx(shown[1].main.value - shown[0].main.value)


async def test_a_complete_run_is_loaded_without_a_warning(tmp_path: Path) -> None:
    await store(tmp_path, [prediction(label, at) for label in LABELS for at in ("q1", "q2")])
    results = Results.load(tmp_path)
    assert results.missing == 0
    assert "missing" not in repr(results)
    assert results._repr_html_().startswith("<iframe")


async def test_settings_without_predictions_are_not_compared(tmp_path: Path) -> None:
    await store(tmp_path, [])
    with pytest.warns(UserWarning, match="6 predictions are missing"):
        results = Results.load(tmp_path)
    with pytest.raises(ScaarError, match="there are no predictions yet"):
        results.compare(*LABELS[:2])


async def test_results_are_pickled_with_their_report_and_decisions(tmp_path: Path) -> None:
    await store(tmp_path, [prediction(label, at) for label in LABELS for at in ("q1", "q2")])
    results = Results.load(tmp_path)
    (tmp_path / DATABASE).unlink()
    again = pickle.loads(pickle.dumps(results))
    assert again.predictions == results.predictions
    assert again.summaries() == results.summaries()
    assert again.report_html == results.report_html
    assert again.decisions("q1", LABELS[0]) == results.decisions("q1", LABELS[0])
    assert list(again.detailed()) == list(results.detailed())


@pytest.mark.parametrize("folder", [5, "a\0b"])
def test_a_folder_that_is_no_path_is_named(folder: Any) -> None:
    with pytest.raises(InvalidRequest, match="folder: must"):
        Results.load(folder)
