"""The gate of SKR from an evaluation of the lab's model, and answers behind it."""

import json
from pathlib import Path

import pytest

from scaar.testing.commands import run_scaar
from scaar.testing.word_encoder import write_word_encoder

QUESTION = "Who directed the film The Haunted Fountain?"
WORDS = [QUESTION, "spouse", "born", "country", "composed", "which", "came out", "older", "father"]


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    return write_word_encoder(tmp_path / "words", WORDS)


def judge(threshold: float) -> tuple[dict[str, object], dict[str, object]]:
    """Return the judgement of the question, and the end of its answer."""
    ran = run_scaar(
        *("ask", QUESTION, "--json", "--policy", "single_round", "--gate", "skr"),
        *("--set", f"gate_threshold={threshold}"),
    )
    assert ran.status == 0, ran.err
    (judged,) = (each for each in ran.records if each["event"] == "gate_judged")
    return judged, ran.records[-1]


@pytest.mark.long
def test_an_evaluation_becomes_a_gate_that_answers_questions(
    tmp_path: Path, encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, gate = tmp_path / "results", tmp_path / "skr.json"
    ran = run_scaar(
        *("eval", "run", "--dataset", "lab", "--limit", "40", "--seed", "1001"),
        *("--policies", "no_retrieval,single_round", "--out", str(results)),
    )
    assert ran.status == 0, ran.err
    fitted = run_scaar(
        *("eval", "fit-skr", str(results), "--encoder", str(encoder), "--out", str(gate))
    )
    assert fitted.status == 0, fitted.err
    helped = json.loads(gate.read_bytes())["helped"]
    assert set(helped) == {True, False}
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_GATE_FILE", str(gate))
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_GATE_ENCODER", str(encoder))
    judged, answer = judge(0.01)
    share = judged["probability"]
    assert judged["features"] == {"share_helped": share}
    assert isinstance(share, float)
    assert 0.01 < share < 1
    assert (judged["policy"], answer["retrievals"]) == ("single_round", 1)
    judged, answer = judge(share + 0.01)
    assert judged["probability"] == share
    assert (judged["policy"], answer["retrievals"]) == ("no_retrieval", 0)
