"""``scaar.evaluation``: in this process, by an evaluator, and in the notebook of the docs."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from scaar.core.types import AnswerFinished, PassagesRetrieved
from scaar.evaluation import (
    InvalidRequest,
    NotFound,
    PolicyOverrides,
    PolicyRequest,
    Results,
    ScaarError,
    evaluate,
)
from scaar.evaluation.exports import ExportFormat, export
from scaar.testing.commands import run_scaar
from scaar.testing.processes import running_service

NOTEBOOK = Path(__file__).parents[3] / "docs" / "examples" / "evaluation.ipynb"
POLICIES = ("no_retrieval", PolicyRequest("flare", PolicyOverrides(top_k=2)))
SETTINGS = ("no_retrieval", "flare:theta=0.2,top_k=2", "flare:theta=0.6,top_k=2")


@pytest.fixture(scope="module")
def target(lab_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    database = f"sqlite:///{tmp_path_factory.mktemp('evaluator')}/evaluations.sqlite"
    with running_service("evaluator", lab_home, SCAAR_EVALUATOR_DATABASE=database) as service:
        yield service.target


def lab(*, limit: int = 6, **options: Any) -> Results:
    values = {"theta": [0.2, 0.6]}
    return evaluate("lab", POLICIES, values=values, limit=limit, progress=False, **options)


@pytest.mark.long
def test_an_evaluator_gives_the_results_of_this_process(tmp_path: Path, target: str) -> None:
    local, remote = lab(out=tmp_path), lab(target=target)
    assert local.settings == remote.settings == SETTINGS
    assert local.questions == remote.questions
    assert [each.text for each in local.predictions] == [each.text for each in remote.predictions]
    assert [each.scores for each in local.predictions] == [
        each.scores for each in remote.predictions
    ]
    assert local.compare(*SETTINGS[:2]) == remote.compare(*SETTINGS[:2])
    question = local.questions[0].id
    for results in (local, remote):
        events = results.decisions(question, SETTINGS[2])
        assert any(isinstance(each, PassagesRetrieved) for each in events)
        assert isinstance(events[-1], AnswerFinished)
        assert results.report_html.startswith("<!doctype html>")
        assert "<iframe srcdoc=" in results._repr_html_()
    runs = []
    for results, folder in ((local, tmp_path / "local"), (remote, tmp_path / "remote")):
        export(results, ExportFormat.TREC, folder)
        runs.append({each.name: each.read_text() for each in folder.iterdir()})
    assert runs[0] == runs[1]
    assert runs[0]["no_retrieval.run"] == ""
    assert runs[0]["flare_theta=0.2,top_k=2.run"]
    assert repr(local).endswith(": 6 questions, 18 predictions>")


def test_results_are_read_from_a_folder_of_the_command_line(tmp_path: Path) -> None:
    requested = ("--dataset", "lab", "--limit", "6", "--policies", "no_retrieval,single_round")
    assert run_scaar("eval", "run", *requested, "--out", str(tmp_path)).status == 0
    results = Results.load(tmp_path)
    frame = results.frame()
    assert len(frame) == 12
    assert list(frame["setting"].unique()) == ["no_retrieval", "single_round"]
    for column in ("question", "answer", "f1", "retrievals", "latency_ms", "kind"):
        assert frame[column].notna().all()
    found = results.compare("no_retrieval", "single_round")
    means = frame.groupby("setting")["f1"].mean()
    assert found.value == pytest.approx(means["single_round"] - means["no_retrieval"])
    assert (tmp_path / "report.html").read_text() == results.report_html


def test_an_invalid_argument_is_named(tmp_path: Path, target: str) -> None:
    out = tmp_path / "out"
    for options, field in (
        ({}, "out"),
        ({"out": out, "target": target}, "out"),
        ({"target": target, "retry_failed": True}, "retry_failed"),
        ({"out": out, "scorers": ["best"]}, "scorers"),
        ({"out": out, "gates": ["best"]}, "gates"),
        ({"out": out, "indexes": ["lab", "lab"]}, "indexes"),
        ({"out": out, "limit": 0}, "limit"),
        (
            {"out": out, "orchestrator": "dns:///h:1", "cache_generations": True},
            "cache_generations",
        ),
    ):
        with pytest.raises(InvalidRequest) as caught:
            lab(**options)
        assert caught.value.violations[0].field == field
    assert not out.exists()
    with pytest.raises(NotFound):
        Results.load(out)


@pytest.mark.parametrize(
    ("given", "message_text"),
    [
        ({"policies": []}, "policies: must name at least one"),
        ({"policies": [None]}, r"policies\[0\]: must be of type PolicyRequest, not None"),
        ({"dataset": Path("lab")}, "dataset: must be text, not PosixPath"),
        ({"values": {"theta": []}}, "values.theta: must have at least one value"),
        ({"values": {"theta": "0.3"}}, "values.theta: must be a number, not '0.3'"),
        ({"values": {"top_k": 2.5}}, "values.top_k: must be a whole number, not 2.5"),
        ({"values": None}, "values: must map settings to values, not be None"),
        ({"gates": [5]}, r"gates\[0\]: must be text, not 5"),
        ({"grid": 2.5}, "grid: must be a whole number, not 2.5"),
        ({"limit": True}, "limit: must be a whole number, not True"),
        (
            {"seed": 1.5, "style": "x"},
            "seed: must be a whole number, not 1.5; style: must be a num",
        ),
        ({"timeout_s": None}, "timeout_s: must be a number, not None"),
        ({"concurrency": 0}, "concurrency: must be 1 to 64, not 0"),
        ({"concurrency": 10**9}, "concurrency: must be 1 to 64, not 1000000000"),
        ({"skip_unserved": "no"}, "skip_unserved: must be True or False, not 'no'"),
    ],
)
def test_an_argument_of_another_type_is_refused_before_any_work(
    tmp_path: Path, given: dict[str, Any], message_text: str
) -> None:
    out = tmp_path / "out"
    for place in ({"out": out}, {"target": f"embedded:{out}"}):
        with pytest.raises(InvalidRequest, match=f"^{message_text}"):
            evaluate(**{"dataset": "lab", "policies": "flare", "limit": 2, **place, **given})
    assert not out.exists()


def test_a_failed_evaluation_is_reported(target: str) -> None:
    with pytest.raises(ScaarError, match="is failed: .*nowhere"):
        evaluate("lab", ["single_round"], target=target, indexes=["nowhere"], limit=2)


def test_unknown_settings_and_questions_are_named(tmp_path: Path) -> None:
    results = evaluate("lab", ["no_retrieval"], out=tmp_path, limit=4, progress=False)
    question = results.questions[0].id
    assert results.decisions(question)
    for work, field in (
        (lambda: results.decisions("q?"), "question_id"),
        (lambda: results.compare("no_retrieval", "scaar"), "second"),
        (lambda: results.compare("no_retrieval", "no_retrieval"), "second"),
        (lambda: results.compare("no_retrieval", "no_retrieval", measure="blue"), "measure"),
    ):
        with pytest.raises(InvalidRequest) as caught:
            work()
        assert caught.value.violations[0].field == field


@pytest.mark.long
def test_the_notebook_of_the_docs_runs(tmp_path: Path, lab_home: Path) -> None:
    shutil.copy(NOTEBOOK, tmp_path)
    notebook = nbformat.read(tmp_path / NOTEBOOK.name, as_version=4)
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    shown = [
        output for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output
    ]
    texts = [output["data"]["text/plain"] for output in shown]
    assert any("Difference(measure='f1', first='single_round'" in text for text in texts)
    assert any(
        "text/html" in output["data"] and "iframe" in output["data"]["text/html"]
        for output in shown
    )
    assert texts[-1].endswith(": 20 questions, 60 predictions>")
