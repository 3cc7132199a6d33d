"""``scaar ask --documents``: a folder is indexed, and answers name their files."""

from pathlib import Path

import pytest

from scaar.testing.commands import Ran, run_scaar
from scaar.testing.english import remove_english

QUESTION = "Who directed the film The Haunted Fountain?"
PAGE = "# The Haunted Fountain\n\nThe film The Haunted Fountain was directed by Borric Torford."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a document for the lab's model, which the settings name."""
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "lab-lm")
    path = tmp_path / "films"
    path.mkdir()
    (path / "fountain.md").write_text(PAGE)
    return path


def ask(folder: Path, *options: str) -> Ran:
    return run_scaar("ask", QUESTION, "--documents", str(folder), *options)


def test_a_folder_is_indexed_and_the_answer_names_the_file(folder: Path) -> None:
    for files in ("1 document read, 1 added", "1 document, unchanged"):
        ran = ask(folder)
        assert ran.status == 0, ran.err
        assert "Borric Torford" in ran.out
        assert "  sources  fountain.md › The Haunted Fountain\n" in ran.out
        assert ran.err.startswith(f"model: lab-lm (engine onnx)\nfilms: {files}")
    (folder / "other.md").write_text("# Other\n\nAnother film.")
    named = ask(folder, "--policy", "single_round", "--index", "mine", "--json")
    assert named.records[0]["provenance"]["index"] == "mine"
    for name in ("films", "mine"):
        assert run_scaar("index", "describe", name).status == 0


def test_a_file_of_questions_is_answered_from_a_folder(folder: Path, tmp_path: Path) -> None:
    questions, answers = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    questions.write_text(f'{{"id": "1", "question": "{QUESTION}"}}\n')
    options = ("--file", str(questions), "--out", str(answers), "--policy", "single_round")
    ran = run_scaar("ask", "--documents", str(folder), *options)
    assert ran.status == 0, ran.err
    assert "Borric Torford" in answers.read_text()


def test_a_policy_without_its_scorer_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove_english(monkeypatch)
    monkeypatch.delenv("SCAAR_GENERATOR_MODEL")
    ran = ask(folder, "--policy", "scaar")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("scaar: policy scaar: contributions need a scorer")
    assert "install scaar-english" in ran.err


def test_an_answer_is_verified_where_no_setting_names_a_policy(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(folder, "--json").records[0]["provenance"]["policy"]["name"] == "verified"
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_DEFAULT_POLICY", "no_retrieval")
    assert ask(folder, "--json").records[0]["provenance"]["policy"]["name"] == "no_retrieval"
