"""A real Ollama on the CPU with the lab's language model, on loopback.

The program is ``ollama`` of the path, or the one that the variable ``OLLAMA`` names.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scaar.lab.models import LAB_LM
from scaar.testing.ports import free_port

from ..llama_cpp.llama_cpp_server import export_lab_model
from ..server_process import ServerProcess, is_ready, server_folder

HERE = Path(__file__).resolve().parent
CONTEXT = 2048
"""Tokens of the context, those of the model."""
# More threads wait for one another on a busy machine.
_MODEL = """
TEMPLATE "{{ range .Messages }}{{ .Content }}{{ end }}"
PARAMETER repeat_penalty 1
PARAMETER num_thread 1
"""


class OllamaServer:
    """A server at ``url``, which serves the ``model``."""

    model = LAB_LM

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._program = _program()
        address = f"127.0.0.1:{free_port()}"
        self.url = f"http://{address}"
        self._environment = {
            "OLLAMA_HOST": address,
            "OLLAMA_MODELS": str(self._folder / "models"),
            "OLLAMA_CONTEXT_LENGTH": str(CONTEXT),
            # With fewer than there are answers at a time, one that waits may wait forever.
            "OLLAMA_NUM_PARALLEL": "8",
            "HOME": str(self._folder),
        }
        log = self._folder / "ollama.log"
        self.process = ServerProcess(log, environment=self._environment)

    def start(self) -> None:
        """Start the server, and create the model from its GGUF file."""
        self.process.start(
            [self._program, "serve"], answers=lambda: is_ready(f"{self.url}/api/version")
        )
        file = self._folder / f"{LAB_LM}.gguf"
        export_lab_model(file)
        described = self._folder / "Modelfile"
        described.write_text(f"FROM {file}{_MODEL}")
        creating = [self._program, "create", self.model, "--file", str(described)]
        subprocess.run(
            creating, check=True, capture_output=True, env={**os.environ, **self._environment}
        )


def _program() -> str:
    found = shutil.which(os.environ.get("OLLAMA", "ollama"))
    if found is None:
        raise FileNotFoundError(
            "OLLAMA names no program: install Ollama, or set OLLAMA to its path"
        )
    return found


@contextmanager
def running_ollama() -> Iterator[OllamaServer]:
    """Run a server for the duration of the block."""
    with server_folder(HERE) as folder:
        server = OllamaServer(folder)
        try:
            server.start()
            yield server
        finally:
            server.process.kill_with_children()
