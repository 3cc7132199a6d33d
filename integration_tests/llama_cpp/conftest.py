"""A real llama.cpp server with the lab's language model, and GGUF files for the engine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM

from ..servers.lab_answers import lab_data
from ..servers.llama_cpp.llama_cpp_server import (
    LlamaCppServer,
    export_lab_model,
    running_llama_cpp,
)
from ..servers.models.gguf_models import gguf_model


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


@pytest.fixture(scope="session")
def lab_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab's language model as a GGUF file."""
    file = tmp_path_factory.mktemp("gguf") / f"{LAB_LM}.gguf"
    export_lab_model(file)
    return file


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """SmolLM2-135M-Instruct."""
    return gguf_model("smollm2")


def settings_of_file(file: Path, **fields: Any) -> GeneratorSettings:
    """Settings of the engine ``llama_cpp``, on one thread."""
    given = {"engine": "llama_cpp", "model": str(file), "threads": 1, "read_timeout_s": 300}
    return GeneratorSettings.model_validate(given | fields)
