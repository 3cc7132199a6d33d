"""Starts of llama.cpp's server that the system or the file prevents."""

from pathlib import Path

import pytest

from scaar.core.errors import BackendUnavailable, DataCorrupt, NotFound
from scaar.generator.engines.llama_cpp_server import process
from scaar.generator.engines.llama_cpp_server.sizes import sizes_of
from scaar.generator.engines.llama_cpp_server.supervisor import ServerSupervisor
from scaar.generator.gguf.model import read_model

from .gguf_files import MODEL, write_gguf


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "f.gguf")


@pytest.fixture
def supervisor(file: Path) -> ServerSupervisor:
    model = read_model(file)
    return ServerSupervisor(model, sizes_of(model, slots=1, context=512, threads=1), connections=1)


async def test_a_replaced_file_is_not_loaded(file: Path, supervisor: ServerSupervisor) -> None:
    write_gguf(file, {**MODEL, "general.name": "Another"})
    with pytest.raises(DataCorrupt, match=r"^f\.gguf was replaced while it was in use: restart"):
        await supervisor.start()


async def test_a_deleted_file_is_an_error_of_every_call(
    file: Path, supervisor: ServerSupervisor
) -> None:
    file.unlink()
    with pytest.raises(NotFound, match=r"f\.gguf cannot be read any more \(No such file"):
        await supervisor.start()


async def test_a_process_that_cannot_be_started_is_an_error(
    supervisor: ServerSupervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_COMMAND", ("/absent/python",))
    with pytest.raises(BackendUnavailable, match="cannot be started: No such file or directory$"):
        await supervisor.start()
