"""A real Ollama with the lab's language model, for all tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ..servers.lab_answers import lab_data
from ..servers.ollama.ollama_server import OllamaServer, running_ollama


@pytest.fixture(scope="session")
def ollama() -> Iterator[OllamaServer]:
    """The server."""
    with running_ollama() as server:
        yield server


@pytest.fixture(scope="session")
def lab_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the lab's index."""
    return lab_data(tmp_path_factory.mktemp("scaar"))
