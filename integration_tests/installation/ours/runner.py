"""Interface of what runs replicas."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from .places import Place


class Replica(Protocol):
    """A running replica."""

    def stop(self) -> None:
        """Stop the replica gracefully."""
        ...

    def kill(self) -> None:
        """Kill the replica."""
        ...


class Runner(Protocol):
    """Runs commands of scaar, each at its own place."""

    host: str
    """Address of this machine for replicas."""
    files: Path
    """Path of the folder of certificates for replicas."""
    home: Path
    """Path of the data folder, which replicas share."""
    settle_s: float
    """Seconds until clients find a new replica."""

    def places(self, count: int, replicas: int) -> list[list[Place]]:
        """Return free places for ``count`` services with ``replicas`` replicas each."""
        ...

    def target(self, service: str, places: list[Place]) -> str:
        """Return the target of a service, with all its places."""
        ...

    def url(self, name: str, place: Place) -> str:
        """Return the URL of an HTTP server at a place, for services."""
        ...

    def serve(
        self, service: str, place: Place, settings: Mapping[str, str], serves: Callable[[], bool]
    ) -> Replica:
        """Run ``scaar serve`` with these variables, and wait until it is serving."""
        ...

    def tgi(self, place: Place, options: tuple[str, ...], serves: Callable[[], bool]) -> Replica:
        """Run ``scaar lab tgi``, and wait until it is serving."""
        ...

    def faults(self) -> list[str]:
        """Return the unexpected errors in the logs, after all replicas have ended."""
        ...
