"""A real llama.cpp server on the CPU with the lab's language model, on loopback.

    python -m integration_tests.servers.llama_cpp.llama_cpp_server

installs it from PyPI into the folder ``.cache`` beside this file, once (100 MB).
"""

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.ports import free_port

from ..python_environment import install
from ..server_process import ServerProcess, is_ready, server_folder

HERE = Path(__file__).resolve().parent
VENV = HERE / ".cache" / "venv"
_PYTHON = str(VENV / "bin" / "python")
_TEMPLATE = HERE.parent / "vllm" / "template.jinja"


class LlamaCppServer:
    """A server at ``url``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.process = ServerProcess(self._folder / "llama_cpp.log")

    def start(self) -> None:
        """Write the model as a GGUF file, start the server, and wait until it is ready."""
        file = self._folder / f"{LAB_LM}.gguf"
        export_lab_model(file)
        command = [_PYTHON, str(HERE / "native_server.py"), str(file), str(self._port)]
        self.process.start(command, answers=lambda: is_ready(f"{self.url}/health"))

    def metric(self, name: str) -> float:
        """Return a metric."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=60) as response:
            lines = response.read().decode().splitlines()
        found = next(line for line in lines if line.startswith(f"llamacpp:{name} "))
        return float(found.rpartition(" ")[2])

    def tokenize(self, text: str) -> list[int]:
        """Return the tokens of a text, without the one that begins a sequence."""
        body = json.dumps({"content": text, "add_special": False}).encode()
        with urllib.request.urlopen(f"{self.url}/tokenize", body, timeout=60) as response:
            return list(json.load(response)["tokens"])


def export_lab_model(file: Path) -> None:
    """Write the lab's language model as a GGUF file."""
    install(VENV, HERE / "requirements.txt", size="100 MB")
    exporter = [_PYTHON, str(HERE / "gguf_model.py"), str(model_folder(LAB_LM)), str(file)]
    subprocess.run([*exporter, _TEMPLATE.read_text()], check=True)


@contextmanager
def running_llama_cpp() -> Iterator[LlamaCppServer]:
    """Run a server for the duration of the block."""
    with server_folder(HERE) as folder:
        server = LlamaCppServer(folder)
        server.start()
        try:
            yield server
        finally:
            server.process.kill()


if __name__ == "__main__":
    install(VENV, HERE / "requirements.txt", size="100 MB")
    print(f"llama.cpp is in {VENV}")
