"""A real ``transformers serve`` on the CPU with the lab's language model, on loopback.

    python -m integration_tests.servers.transformers_serve.transformers_server

installs it from PyPI into the folder ``.cache`` beside this file, once (6 GB).
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.ports import free_port

from ..python_environment import install
from ..server_process import ServerProcess, is_ready, server_folder

HERE = Path(__file__).resolve().parent
VENV = HERE / ".cache" / "venv"
_TEMPLATE = HERE.parent / "vllm" / "template.jinja"
_START_S = 600
_FILES = (
    *("config.json", "generation_config.json", "model.safetensors"),
    *("tokenizer.json", "tokenizer_config.json"),
)
_ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
_ARGUMENTS = ("--host", "127.0.0.1", "--device", "cpu", "--dtype", "float32")


class TransformersServer:
    """A server at ``url``, which serves the ``model``, a folder."""

    def __init__(self, folder: Path, *, name: str) -> None:
        self._folder = folder.resolve()
        self._name = name
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.model = str(self._folder / LAB_LM)
        home = {**_ENVIRONMENT, "HF_HOME": str(self._folder / "hub")}
        self.process = ServerProcess(self._folder / f"{name}.log", environment=home)

    def start(self, *, pinned: bool) -> None:
        """Start the server and wait until it is ready.

        ``pinned`` to its model, which it lists, or loading and not listing any model named in a
        request.
        """
        if not Path(self.model).is_dir():
            Path(self.model).mkdir()
            for name in _FILES:
                shutil.copy(model_folder(LAB_LM) / name, self.model)
            shutil.copy(_TEMPLATE, Path(self.model) / "chat_template.jinja")
        # The hub's cache, which an unpinned server lists.
        (self._folder / "hub" / "hub").mkdir(parents=True, exist_ok=True)
        command = [str(VENV / "bin" / "transformers"), "serve", *([self.model] if pinned else [])]
        command += [*_ARGUMENTS, "--port", str(self._port)]
        self.process.start(
            command, answers=lambda: is_ready(f"{self.url}/health"), within_s=_START_S
        )


@contextmanager
def running_transformers_serve(*, pinned: bool) -> Iterator[TransformersServer]:
    """Run a server for the duration of the block."""
    install_transformers()
    with server_folder(HERE) as folder:
        server = TransformersServer(folder, name="pinned" if pinned else "unpinned")
        server.start(pinned=pinned)
        try:
            yield server
        finally:
            server.process.kill_with_children()


def install_transformers() -> None:
    """Install transformers and PyTorch, unless the same requirements are installed."""
    install(VENV, HERE / "requirements.txt", size="6 GB")


if __name__ == "__main__":
    install_transformers()
    print(f"transformers serve is in {VENV}")
