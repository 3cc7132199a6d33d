"""``scaar up`` with a folder of documents and a server of OpenAI's interface."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import openai
import pytest

from scaar.testing.commands import run_scaar

from .test_up import free_base_port, gateway_port

QUESTION = "Who directed the film The Haunted Fountain?"
PAGE = "# The Haunted Fountain\n\nThe film The Haunted Fountain was directed by Borric Torford."


@contextmanager
def scaar(home: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command that runs until the end of the block."""
    variables = {"PYTHONPATH": os.pathsep.join(sys.path), "SCAAR_HOME": str(home)}
    with subprocess.Popen(
        [sys.executable, "-m", "scaar.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **variables, "SCAAR_GENERATOR_PROMPT_PROFILE": "lab"},
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()


def line_with(process: subprocess.Popen[str], text: str) -> str:
    """The first line of standard error with the text."""
    assert process.stderr is not None
    return next(line for line in process.stderr if text in line)


@pytest.mark.long
def test_answers_cite_the_documents_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, home, base_port = tmp_path / "films", tmp_path / "home", free_base_port()
    folder.mkdir()
    (folder / "fountain.md").write_text(PAGE)
    with scaar(home, "lab", "openai", "--address", "127.0.0.1:0") as server:
        url = line_with(server, "serving at").split()[-1]
        options = ("--model-url", url, "--documents", str(folder))
        ports = ("--base-port", str(base_port), "--gateway-port", str(gateway_port(base_port)))
        ports += ("--console-port", "0")
        prefix = ("--url-prefix", "https://a.example/films")
        with scaar(home, "up", *options, *ports, *prefix) as up:
            line_with(up, "Ask: ")
            client = openai.OpenAI(
                base_url=f"http://127.0.0.1:{gateway_port(base_port)}/v1", api_key="none"
            )
            answer = client.chat.completions.create(
                model="scaar/single_round", messages=[{"role": "user", "content": QUESTION}]
            )
            message = answer.choices[0].message
            assert "Borric Torford" in str(message.content)
            assert message.annotations is not None
            urls = {each.url_citation.url for each in message.annotations}
            assert urls == {"https://a.example/films/fountain.md"}
            (folder / "other.txt").write_text("Another film.")
            assert up.stdout is not None
            reports = [up.stdout.readline(), up.stdout.readline()]
            assert "1 added, 0 changed, 0 removed, 0 unchanged" in reports[0]
            assert "1 added, 0 changed, 0 removed, 1 unchanged" in reports[1]
            monkeypatch.setenv("SCAAR_HOME", str(home))
            ran = run_scaar("search", "fountain", "--index", "films")
            assert "The Haunted Fountain" in ran.out
