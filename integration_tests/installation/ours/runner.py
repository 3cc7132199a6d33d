"""What replicas run on."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from .places import Place


class Replica(Protocol):
    """One that runs."""

    def stop(self) -> None:
        """Ends it in order."""
        ...

    def kill(self) -> None:
        """Ends it as a loss of power would."""
        ...


class Runner(Protocol):
    """Runs commands of scaar's, each in a place of its own."""

    host: str
    """Where what runs reaches what listens on this machine."""
    files: Path
    """Where the folder of certificates is for what runs."""
    settle_s: float
    """How long clients may take to find a replica that is new."""

    def places(self, count: int, replicas: int) -> list[list[Place]]:
        """Free places for this number of services, each with this number of replicas."""
        ...

    def target(self, service: str, places: list[Place]) -> str:
        """Where the other services find this one, whichever of its places are taken."""
        ...

    def url(self, name: str, place: Place) -> str:
        """Where what serves HTTP at the place is found by services."""
        ...

    def serve(
        self, service: str, place: Place, settings: Mapping[str, str], serves: Callable[[], bool]
    ) -> Replica:
        """``scaar serve``, set by whole variables; returns when it serves."""
        ...

    def tgi(self, place: Place, options: tuple[str, ...], serves: Callable[[], bool]) -> Replica:
        """``scaar lab tgi``; returns when it serves."""
        ...

    def faults(self) -> list[str]:
        """What was said of errors that nobody foresaw, when all has ended."""
        ...
