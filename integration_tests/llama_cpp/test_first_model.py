"""The first model of a user: downloaded by its name, asked about documents, in one process."""

from pathlib import Path

import pytest

from scaar.testing.commands import Ran, run_scaar

from ..servers.models.gguf_models import MODELS

DOCUMENT = """# The lighthouse of Solana Bay

The lighthouse of Solana Bay was built in 1874 by the engineer Marta Ojeda.
"""


@pytest.fixture
def downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """A data folder with the model, which the settings name."""
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", "llama_cpp")
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "smollm2-135m")
    monkeypatch.setenv("SCAAR_GENERATOR_THREADS", "1")
    return run_scaar("models", "get", "smollm2-135m", "--yes")


def test_a_model_of_the_catalogue_is_downloaded_and_answers_from_documents(
    downloaded: Ran, tmp_path: Path
) -> None:
    assert downloaded.status == 0, downloaded.err
    assert run_scaar("models", "verify").status == 0
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "lighthouse.md").write_text(DOCUMENT)
    assert run_scaar("index", "build", "mine", "--from", str(folder)).status == 0
    question = "Who built the lighthouse of Solana Bay?"
    ran = run_scaar("ask", question, "--index", "mine", "--policy", "single_round", "--json")
    assert ran.status == 0, ran.err
    answer = ran.records[-1]
    assert answer["retrievals"] == 1
    assert answer["text"]
    assert answer["sentences"][0]["passage_ids"]
    assert answer["provenance"]["model_revision"] == MODELS["smollm2"].sha256
