"""Replicas as containers of the images, in a network of their own on the local Docker engine.

Containers of a service share its name in that network, as replicas do in production: services find
them by DNS, and look again when a connection ends. Their ports are published on loopback, where the
tests find them. The engine's command is ``docker`` unless ``DOCKER`` names another, and the images
are those of ``make images`` unless ``SCAAR_IMAGES`` (their prefix) and ``SCAAR_VERSION`` say else.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from scaar import __version__

from .installation import CONSOLE, GATEWAY, RECORDS, SERVICES
from .places import Place, places_each
from .runner import Replica
from .settings import variable

_DOCKER = os.environ.get("DOCKER") or "docker"
_PREFIX = os.environ.get("SCAAR_IMAGES") or "scaar/"
_VERSION = os.environ.get("SCAAR_VERSION") or __version__
_HARDENED = (
    *("--init", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--memory", "1g"),
    *("--security-opt", "no-new-privileges:true", "--no-healthcheck"),
)
_TGI_PORT = 8080
_WEB_PORTS = {GATEWAY: 8090, CONSOLE: 8091}
_METRICS_PORT = 9464
_START_S = 120


class Container:
    """A running container; ``ended`` is called with its log when it has stopped."""

    def __init__(self, name: str, ended: Callable[[str], None]) -> None:
        self._name, self._ended = name, ended

    def wait(self, serves: Callable[[], bool]) -> None:
        """Returns when it serves.

        Raises:
            RuntimeError: it ended, or does not serve in time.
        """
        until = time.monotonic() + _START_S
        while time.monotonic() < until:
            if serves():
                return
            if docker("inspect", "--format", "{{.State.Running}}", self._name) != "true":
                break
            time.sleep(0.2)
        raise RuntimeError(f"{self._name} did not start: {self._log()}")

    def stop(self) -> None:
        docker("stop", "--time", "60", self._name)
        self._ended(self._log())
        docker("rm", self._name)

    def kill(self) -> None:
        docker("rm", "--force", self._name)

    def _log(self) -> str:
        command = [_DOCKER, "logs", self._name]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        return f"{self._name}: {ran.stdout}{ran.stderr}"


class Containers:
    """Containers with one network and one data volume, both named ``name``."""

    files = Path("/run/scaar")
    home = Path("/var/lib/scaar")
    # A name is resolved at most every ten seconds.
    settle_s = 11.0

    def __init__(self, name: str, host: str, files: Path) -> None:
        self._name, self.host, self._files = name, host, files
        self._faults: list[str] = []

    def places(self, count: int, replicas: int) -> list[list[Place]]:
        return places_each(count, replicas)

    def target(self, service: str, places: list[Place]) -> str:
        return f"dns:///{service}:{_port(service)}"

    def url(self, name: str, place: Place) -> str:
        return f"http://{name}:{_TGI_PORT}"

    def serve(
        self, service: str, place: Place, settings: Mapping[str, str], serves: Callable[[], bool]
    ) -> Replica:
        metrics = {variable(service, "metrics_address"): f"0.0.0.0:{_METRICS_PORT}"}
        options = [
            *(
                part
                for pair in {**settings, **metrics}.items()
                for part in ("--env", "=".join(pair))
            ),
            *("--publish", f"{place.address}:{_port(service)}"),
            *("--publish", f"{place.metrics_address}:{_METRICS_PORT}"),
            *(
                "--volume",
                f"{self._name}:{self.home}",
                "--volume",
                f"{self._files}:{self.files}:ro",
            ),
        ]
        return self._run(service, service, options, (), serves)

    def tgi(self, place: Place, options: tuple[str, ...], serves: Callable[[], bool]) -> Replica:
        command = ("lab", "tgi", "--address", f"0.0.0.0:{_TGI_PORT}", *options)
        publish = ["--publish", f"{place.address}:{_TGI_PORT}"]
        return self._run("tgi", "scaar-lab", publish, command, serves)

    def faults(self) -> list[str]:
        return self._faults

    def _run(
        self,
        alias: str,
        image: str,
        options: list[str],
        command: tuple[str, ...],
        serves: Callable[[], bool],
    ) -> Replica:
        name = f"{self._name}-{alias}-{uuid4().hex[:6]}"
        network = ("--network", self._name, "--network-alias", alias)
        labelled = ("--name", name, "--label", self._name)
        shown = f"{_PREFIX}{image}:{_VERSION}"
        docker("run", "--detach", *labelled, *network, *_HARDENED, *options, shown, *command)
        container = Container(name, self._note)
        container.wait(serves)
        return container

    def _note(self, log: str) -> None:
        if "Traceback" in log:
            self._faults.append(log)


@contextmanager
def containers(files: Path) -> Iterator[Containers]:
    """Create a network and a volume, and remove them with their containers after the block."""
    name = f"scaar-tests-{uuid4().hex[:8]}"
    docker("network", "create", name)
    docker("volume", "create", name)
    shown = Path(tempfile.mkdtemp(prefix=name))
    try:
        # Copied to where the user of the images, who is not this one, may read them.
        shutil.copytree(files, shown, dirs_exist_ok=True)
        shown.chmod(0o755)
        for file in shown.iterdir():
            file.chmod(0o644)
        gateway = "{{(index .IPAM.Config 0).Gateway}}"
        yield Containers(name, docker("network", "inspect", "--format", gateway, name), shown)
    finally:
        if left := docker("ps", "--all", "--quiet", "--filter", f"label={name}").split():
            docker("rm", "--force", *left)
        docker("volume", "rm", name)
        docker("network", "rm", name)
        shutil.rmtree(shown)


def docker(*arguments: str) -> str:
    """Run a command of the engine and return its output.

    Raises:
        RuntimeError: it failed; with what it said.
    """
    ran = subprocess.run([_DOCKER, *arguments], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"{_DOCKER} {arguments[0]}: {ran.stderr.strip()}")
    return ran.stdout.strip()


def _port(service: str) -> int:
    if service in _WEB_PORTS:
        return _WEB_PORTS[service]
    order = ("orchestrator", *(each for each in SERVICES if each != "orchestrator"), RECORDS)
    return 50_051 + order.index(service)
