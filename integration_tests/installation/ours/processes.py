"""Replicas as processes on loopback."""

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

from ...servers.scaar_process import ENVIRONMENT, scaar
from ...servers.server_process import ServerProcess
from .places import HOST, Place, listed, places_each
from .settings import variable


class Processes:
    """Processes with one data folder, which has their logs."""

    host = HOST
    # Clients reconnect to an address within a second.
    settle_s = 1.0

    def __init__(self, folder: Path, files: Path) -> None:
        self._folder, self.files, self.home = folder, files, folder / "home"
        self._numbers = itertools.count(1)

    def places(self, count: int, replicas: int) -> list[list[Place]]:
        return places_each(count, replicas)

    def target(self, service: str, places: list[Place]) -> str:
        return listed(places)

    def url(self, name: str, place: Place) -> str:
        return f"http://{place.address}"

    def serve(
        self, service: str, place: Place, settings: Mapping[str, str], serves: Callable[[], bool]
    ) -> ServerProcess:
        metrics = {variable(service, "metrics_address"): place.metrics_address}
        return self._run(
            service, ["serve", service, "--address", place.address], {**settings, **metrics}, serves
        )

    def tgi(
        self, place: Place, options: tuple[str, ...], serves: Callable[[], bool]
    ) -> ServerProcess:
        return self._run("tgi", ["lab", "tgi", "--address", place.address, *options], {}, serves)

    def faults(self) -> list[str]:
        logs = {log.name: log.read_text() for log in sorted(self._folder.glob("*.log"))}
        return [f"{name}: {text}" for name, text in logs.items() if "Traceback" in text]

    def _run(
        self,
        name: str,
        command: list[str],
        environment: Mapping[str, str],
        serves: Callable[[], bool],
    ) -> ServerProcess:
        process = ServerProcess(self._folder / f"{name}-{next(self._numbers)}.log")
        home = {"SCAAR_HOME": str(self.home)}
        process.start(
            scaar(*command),
            answers=serves,
            environment={**ENVIRONMENT, **home, **environment},
        )
        return process
