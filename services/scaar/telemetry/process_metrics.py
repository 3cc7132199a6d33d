"""The metrics of a process and of those that it begins, read together at one address.

Each process writes what it counts into files of its own, in a folder that they share; who asks is
given the sums. What a process has counted that is no more still counts.
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
    """Metrics that this process and those below it count."""

    observer: EvaluationObserver
    breakers: BreakerObserver
    address: str
    """Where they are read."""
    _server: "HTTPServer"

    def leave_to_parent(self) -> None:
        """In a process below: lets go of the port, which is then free when the parent has ended."""
        self._server.socket.close()


@contextmanager
def open_process_metrics(address: str, *, service: str) -> Iterator[ProcessMetrics]:
    """Serves the metrics until the block ends; processes that are begun in it count too.

    To be called before anything else in the process keeps metrics.

    Raises:
        CapabilityMissing: the library is not installed.
        InvalidRequest: it is no address, or cannot be listened at.
        AlreadyExists: something listens there.
    """
    # The library decides as it is loaded where it keeps its values.
    assert _LIBRARY not in sys.modules, f"{_LIBRARY} is loaded already"
    with tempfile.TemporaryDirectory(prefix="scaar-metrics-") as folder:
        os.environ[_FOLDER] = folder
        try:
            from prometheus_client import CollectorRegistry
            from prometheus_client.multiprocess import MultiProcessCollector

            from scaar.telemetry.breaker_metrics import BreakerMetrics
            from scaar.telemetry.evaluation_metrics import EvaluationMetrics
            from scaar.telemetry.metrics import Metrics, listening
        except ModuleNotFoundError as error:
            text = f"metrics_address needs {error.name}: install scaar[telemetry]"
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
