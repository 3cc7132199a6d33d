"""A real llama.cpp server with the lab's language model, for all tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scaar.generator.settings import GeneratorSettings

from ..servers.lab_answers import lab_data
from ..servers.llama_cpp.llama_cpp_server import LlamaCppServer, running_llama_cpp


@pytest.fixture(scope="session")
def llama_cpp() -> Iterator[LlamaCppServer]:
    """The server."""
    with running_llama_cpp() as server:
        yield server


@pytest.fixture(scope="session")
def lab_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the lab's index."""
    return lab_data(tmp_path_factory.mktemp("scaar"))


def settings_for(server: LlamaCppServer, **fields: Any) -> GeneratorSettings:
    """Settings of the engine over the server."""
    given = {"engine": "openai", "url": server.url, "prompt_profile": "lab", "read_timeout_s": 300}
    return GeneratorSettings.model_validate(given | fields)
