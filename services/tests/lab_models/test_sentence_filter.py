"""Sentence filters fitted to the lab's questions, and answers of filco with them."""

import json
from pathlib import Path

import pytest

from scaar.core.sentence_filter.learned_filter import Labelling
from scaar.testing.commands import run_scaar

QUESTION = "When was the film The Velvet Statue released?"


@pytest.mark.parametrize(
    "labelling",
    [
        Labelling.LEXICAL,
        *(
            pytest.param(each, marks=pytest.mark.long)
            for each in Labelling
            if each is not Labelling.LEXICAL
        ),
    ],
)
def test_filco_answers_from_the_sentences_that_its_fitted_filter_keeps(
    labelling: Labelling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "filter.json"
    fitted = run_scaar(
        *("eval", "filter", "fit", "--dataset", "lab", "--seed", "1000", "--limit", "40"),
        *("--labelling", labelling, "--out", str(path), "--format", "json"),
    )
    assert fitted.status == 0, fitted.err
    assert f"SCAAR_ORCHESTRATOR_SENTENCE_FILTER_FILE={path}" in fitted.err
    assert [each["split"] for each in fitted.records] == ["development", "test"]
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_SENTENCE_FILTER_FILE", str(path))
    ran = run_scaar("ask", QUESTION, "--policy", "filco", "--json")
    assert ran.status == 0, ran.err
    (filtered,) = (each for each in ran.records if each["event"] == "passages_filtered")
    assert len(filtered["passages"]) == 3
    provenance = ran.records[0]["provenance"]
    assert provenance["sentence_filter_digest"] == json.loads(path.read_bytes())["digest"]
    assert ran.records[-1]["answer"] == "1937"


def test_the_model_ships_with_a_filter() -> None:
    ran = run_scaar("ask", QUESTION, "--policy", "filco", "--json")
    assert ran.status == 0, ran.err
    (filtered,) = (each for each in ran.records if each["event"] == "passages_filtered")
    sentences = [each for found in filtered["passages"] for each in found["sentences"]]
    kept = [each["text"] for each in sentences if each["kept"]]
    assert 0 < len(kept) < len(sentences)
    assert "The film The Velvet Statue was released in 1937." in kept
    assert ran.records[-1]["answer"] == "1937"


def test_a_changed_filter_is_refused_at_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "filter.json"
    path.write_text('{"format": 1, "digest": "c0ffee"}')
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_SENTENCE_FILTER_FILE", str(path))
    ran = run_scaar("ask", QUESTION, "--policy", "filco")
    assert ran.status == 2
    assert f"SCAAR_ORCHESTRATOR_SENTENCE_FILTER_FILE: {path}: digest: is 'c0ffee'" in ran.err
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_SENTENCE_FILTER_FILE", str(tmp_path / "missing.json"))
    ran = run_scaar("ask", QUESTION, "--policy", "filco")
    assert ran.status == 2
    missing = tmp_path / "missing.json"
    assert (
        f"SCAAR_ORCHESTRATOR_SENTENCE_FILTER_FILE: {missing} cannot be read: No such file"
        in ran.err
    )
