"""The evaluations of record, tiny: run, gone on with, and made into the page."""

from pathlib import Path

import pytest

from record.__main__ import main
from record.evaluations import read_evaluations
from scaar.evaluator.store.folder import read_results


def called(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["record", *arguments])
    return main()


@pytest.mark.long
def test_what_was_run_is_gone_on_with_and_made_into_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, docs = tmp_path / ".results", tmp_path / "docs"
    requested = ("run", "--out", str(out), "--limit", "12", "--only", "alpha,granularity")
    assert called(monkeypatch, *requested) == 0
    kept = {each.name: each for each in read_evaluations(out)}
    assert list(kept) == ["alpha", "granularity"]
    before = {each.name: read_results(each.folder) for each in kept.values()}
    assert called(monkeypatch, *requested) == 0
    assert {name: read_results(out / name) for name in before} == before
    assert called(monkeypatch, "page", str(out), "--docs", str(docs)) == 0
    page = (docs / "results.md").read_text()
    assert "## The share of words in the query" in page
    assert "## Words or tokens" in page
    assert "--limit 12 --cache-generations --skip-unserved --out .results/alpha" in page
    assert (docs / "results" / "alpha-alpha_f1.svg").exists()
    assert str(tmp_path) not in page


@pytest.mark.long
def test_one_that_is_refused_is_named_and_the_others_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / ".results"
    (out / "alpha").mkdir(parents=True)
    (out / "alpha" / "notes.txt").write_text("mine")
    requested = ("run", "--out", str(out), "--limit", "8", "--only", "alpha,granularity")
    assert called(monkeypatch, *requested) == 1
    assert "unfinished: alpha" in capsys.readouterr().err
    assert [each.name for each in read_evaluations(out)] == ["granularity"]
