"""A real vLLM with the lab's language model, for all tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scaar.generator.settings import GeneratorSettings

from ..servers.lab_answers import lab_data
from ..servers.vllm.vllm_server import VllmServer, running_vllm


@pytest.fixture(scope="session")
def vllm() -> Iterator[VllmServer]:
    """The server for tests that leave it running."""
    with running_vllm() as server:
        yield server


@pytest.fixture(scope="session")
def lab_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the lab's index."""
    return lab_data(tmp_path_factory.mktemp("scaar"))


def settings_for(server: VllmServer, **fields: Any) -> GeneratorSettings:
    """Settings of the engine over the server."""
    given = {"engine": "openai", "url": server.url, "prompt_profile": "lab", "read_timeout_s": 300}
    return GeneratorSettings.model_validate(given | fields)
