"""Runs a real Prometheus with its own folder and port, by default on loopback."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from scaar.testing.ports import free_port

from ..debian import unpacked
from ..server_process import ServerProcess, server_folder

HERE = Path(__file__).resolve().parent


class PrometheusServer:
    """A server with a configuration file and its data in ``folder``."""

    def __init__(self, folder: Path, config: Path, host: str = "127.0.0.1") -> None:
        self.folder, self.config = folder.resolve(), config.resolve()
        self.address = f"{host}:{free_port()}"
        self.process = ServerProcess(self.folder / "prometheus.log")

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        command = [
            str(program("prometheus")),
            f"--config.file={self.config}",
            f"--storage.tsdb.path={self.folder / 'data'}",
            f"--web.listen-address={self.address}",
        ]
        self.process.start(command, answers=self._ready)

    def api(self, path: str, **parameters: str) -> Any:
        """Return the data of a request of its HTTP API."""
        url = f"http://{self.address}/api/v1/{path}?{urlencode(parameters)}"
        with urlopen(url, timeout=60) as answer:
            return json.load(answer)["data"]

    def _ready(self) -> bool:
        try:
            with urlopen(f"http://{self.address}/-/ready", timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False


def program(name: str) -> Path:
    """Return the path of ``prometheus`` or ``promtool`` of Debian."""
    return unpacked(HERE / ".cache" / "programs", ["prometheus"]) / "usr" / "bin" / name


def checked(*arguments: str) -> str:
    """Check a file with promtool and return the output, with SUCCESS if it is valid."""
    command = [str(program("promtool")), "check", *arguments]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    return said.stdout + said.stderr


@contextmanager
def running_prometheus(config: Path, host: str = "127.0.0.1") -> Iterator[PrometheusServer]:
    """Run a server for the duration of the block, and delete its data."""
    with server_folder(HERE) as folder:
        server = PrometheusServer(folder, config, host)
        try:
            server.start()
            yield server
        finally:
            server.process.kill()
