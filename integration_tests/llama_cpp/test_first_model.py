"""The first commands of a user: a model is downloaded by its name and answers from a folder."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scaar.testing.commands import Ran, run_scaar
from scaar.testing.ports import free_port

from ..servers.models.gguf_models import MODELS

DOCUMENT = """# The lighthouse of Solana Bay

The lighthouse of Solana Bay was built in 1874 by the engineer Marta Ojeda.
"""
QUESTION = "Who built the lighthouse of Solana Bay?"
ROOT = Path(__file__).parents[2]


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
    return run_scaar(*command, *options)


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


def test_a_folder_is_served_and_asked_by_two_commands(folder: Path) -> None:
    ports = ("--base-port", str(free_port()), "--gateway-port", "0", "--console-port", "0")
    options = ("--documents", str(folder), "--model", "smollm2-135m", "--yes")
    with scaar("up", *options, *ports) as up:
        assert up.stderr is not None
        assert any("Ask: " in line for line in up.stderr)
        ran = run_scaar("ask", QUESTION)
    assert ran.status == 0, ran.err
    assert "Marta Ojeda" in ran.out
    assert "  sources  lighthouse.md › The lighthouse of Solana Bay\n" in ran.out
    assert up.returncode == 0


@contextmanager
def scaar(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command that runs until the end of the block."""
    command = [sys.executable, "-m", "scaar.cli", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()


def test_the_demo_ends_with_an_answer_from_pages(folder: Path) -> None:
    command = [ROOT / "deploy" / "demo.sh", Path(sys.executable).parent]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert ran.returncode == 0, ran.stderr
    from_pages, _, without = ran.stdout.partition("The same model without the pages:")
    assert "George Halpin" in from_pages[from_pages.index("   answer  ") :]
    assert "fastnet.md › Fastnet Lighthouse › The first tower" in from_pages
    assert "   answer  " in without
    offline = {**os.environ, "SCAAR_HOME": str(folder.parent / "new"), "PIP_NO_INDEX": "1"}
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False, env=offline
    )
    assert ran.returncode == 0, ran.stderr
    assert "Skipped: the model is downloaded once" in ran.stdout
