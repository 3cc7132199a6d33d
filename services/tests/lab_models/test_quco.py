"""Answers of quco by the lab's model, with the counts of a corpus of a few sentences."""

import json
from pathlib import Path

import pytest

from scaar.testing.commands import run_scaar

QUESTION = "When was the film The Velvet Statue released?"


def counted(folder: Path, *texts: str) -> Path:
    corpus, out = folder / "texts.jsonl", folder / "corpus.counts"
    lines = ({"id": str(at), "text": text} for at, text in enumerate(texts))
    corpus.write_text("\n".join(map(json.dumps, lines)))
    ran = run_scaar("corpus", "count", str(corpus), "--out", str(out))
    assert ran.status == 0, ran.err
    return out


def test_quco_retrieves_for_what_its_corpus_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = counted(tmp_path, "Nothing of the kind.")
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_CORPUS_COUNTS_FILE", str(path))
    ran = run_scaar("ask", QUESTION, "--policy", "quco", "--json")
    assert ran.status == 0, ran.err
    digest = json.loads(path.read_bytes().partition(b"\n")[0])["sha256"]
    assert ran.records[0]["provenance"]["corpus_counts_digest"] == digest
    queries = [each["query"]["text"] for each in ran.records if each["event"] == "query_built"]
    assert queries[0] == QUESTION
    assert queries[1].startswith("The ")
    assert "The Velvet Statue" in queries[1]
    assert "1937" not in queries[1]
    assert ran.records[-1]["answer"] == "1937"


def test_quco_retrieves_nothing_for_what_its_corpus_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The model writes a year by itself, and the corpus has the film with every year.
    years = " ".join(map(str, range(1850, 2030)))
    path = counted(tmp_path, f"{'The Velvet Statue ' * 1000} {years}")
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_CORPUS_COUNTS_FILE", str(path))
    ran = run_scaar("ask", QUESTION, "--policy", "quco", "--json")
    assert ran.status == 0, ran.err
    (gate,) = (each for each in ran.records if each["event"] == "gate_judged")
    assert gate["features"] == {"entities": 1.0, "mean_count": 1000.0}
    assert ran.records[-1]["retrievals"] == 0


def test_quco_without_its_file_is_refused() -> None:
    ran = run_scaar("ask", QUESTION, "--policy", "quco")
    assert ran.status == 1
    assert "SCAAR_ORCHESTRATOR_CORPUS_COUNTS_FILE" in ran.err
