"""Metrics of a process and its child processes, served together at one address.

Each process writes its values to files of its own in a shared folder; a scrape returns the sums.
Values of processes that have ended still count.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaar.core.errors import CapabilityMissing
from scaar.core.observers import BreakerObserver, EvaluationObserver

if TYPE_CHECKING:
    from http.server import HTTPServer

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_LIBRARY = "prometheus_client"


@dataclass(frozen=True, slots=True)
class ProcessMetrics:
    """Metrics shared by a process and its child processes."""

    observer: EvaluationObserver
    breakers: BreakerObserver
    address: str
    """Address that serves the metrics, with the bound port."""
    _server: "HTTPServer"

    def leave_to_parent(self) -> None:
        """Close the port in a child process, so that the port is free when the parent ends."""
        self._server.socket.close()


@contextmanager
def open_process_metrics(address: str, *, service: str) -> Iterator[ProcessMetrics]:
    """Serve the metrics until the block ends, including those of processes started in it.

    Call it before the process imports the metrics library.

    Raises:
        CapabilityMissing: the library is not installed.
        InvalidRequest: the address is invalid, or cannot be bound.
        AlreadyExists: the address is in use.
    """
    # The library chooses its storage when it is imported.
    assert _LIBRARY not in sys.modules, f"{_LIBRARY} is already imported"
    with tempfile.TemporaryDirectory(prefix="scaar-metrics-") as folder:
        os.environ[_FOLDER] = folder
        try:
            from prometheus_client import CollectorRegistry
            from prometheus_client.multiprocess import MultiProcessCollector

            from scaar.telemetry.metrics import Metrics, listening
            from scaar.telemetry.observer_metrics import BreakerMetrics, EvaluationMetrics
        except ModuleNotFoundError as error:
            text = f"metrics_address requires {error.name}: install scaar[telemetry]"
            raise CapabilityMissing(text) from error
        metrics = Metrics(service)
        registry = CollectorRegistry()
        MultiProcessCollector(registry, path=folder)  # type: ignore[no-untyped-call]
        with listening(registry, address) as server:
            host = address.rpartition(":")[0]
            yield ProcessMetrics(
                EvaluationMetrics(metrics),
                BreakerMetrics(metrics),
                f"{host}:{server.server_port}",
                server,
            )
