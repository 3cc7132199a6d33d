"""The first command of a user: a model is downloaded by its name and answers from a folder."""

from pathlib import Path

import pytest

from scaar.testing.commands import Ran, run_scaar

from ..servers.models.gguf_models import MODELS

DOCUMENT = """# The lighthouse of Solana Bay

The lighthouse of Solana Bay was built in 1874 by the engineer Marta Ojeda.
"""
QUESTION = "Who built the lighthouse of Solana Bay?"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a document, for a user without models and settings."""
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SCAAR_GENERATOR_THREADS", "1")
    path = tmp_path / "handbook"
    path.mkdir()
    (path / "lighthouse.md").write_text(DOCUMENT)
    return path


def ask(folder: Path, *options: str) -> Ran:
    command = ("ask", QUESTION, "--documents", str(folder), "--model", "smollm2-135m")
    return run_scaar(*command, "--policy", "single_round", *options)


def test_a_model_of_the_catalogue_is_downloaded_and_answers_from_a_folder(folder: Path) -> None:
    without = ask(folder)
    assert without.status == 1
    assert "run scaar models get smollm2-135m" in without.err
    ran = ask(folder, "--yes", "--json")
    assert ran.status == 0, ran.err
    answer = ran.records[-1]
    assert answer["retrievals"] == 1
    assert answer["text"]
    assert answer["sentences"][0]["passage_ids"]
    assert answer["provenance"]["model_revision"] == MODELS["smollm2"].sha256
    assert run_scaar("models", "verify").status == 0
    again = ask(folder, "--offline")
    assert again.status == 0, again.err
    assert "  sources  lighthouse.md › The lighthouse of Solana Bay\n" in again.out
