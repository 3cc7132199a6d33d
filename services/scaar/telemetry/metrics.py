"""The metrics of a process, kept as the table declares them and read by Prometheus over HTTP."""

import asyncio
import errno
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from http.server import HTTPServer
from socket import create_connection
from threading import Thread

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from scaar import __version__
from scaar.core.errors import AlreadyExists, InvalidRequest
from scaar.telemetry.metric_table import BREAKER_STATE, METRICS, SERVICE_INFO, Kind, Metric

_HIGHEST_PORT = 65_535


class Metrics:
    """The metrics of one process; safe to be read while they are counted.

    Labels are given in the order of the table.
    """

    def __init__(self, service: str) -> None:
        # Only what the table says: no second series a counter that tells when it began.
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._counters: Mapping[str, Counter] = {
            each.name: Counter(each.name, each.help, each.labels, registry=self.registry)
            for each in METRICS
            if each.kind is Kind.COUNTER
        }
        # Of the processes that keep them together, where there are several; a state has no sum.
        self._gauges: Mapping[str, Gauge] = {
            each.name: Gauge(
                each.name,
                each.help,
                each.labels,
                registry=self.registry,
                multiprocess_mode="livemax" if each is BREAKER_STATE else "livesum",
            )
            for each in METRICS
            if each.kind is Kind.GAUGE
        }
        self._histograms: Mapping[str, Histogram] = {
            each.name: Histogram(
                each.name, each.help, each.labels, buckets=each.buckets, registry=self.registry
            )
            for each in METRICS
            if each.kind is Kind.HISTOGRAM
        }
        self._gauges[SERVICE_INFO.name].labels(service, __version__).set(1)

    def add(self, metric: Metric, *labels: str, by: float = 1.0) -> None:
        """Counts so many more."""
        counter = self._counters[metric.name]
        (counter.labels(*labels) if labels else counter).inc(by)

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Puts a value into a histogram."""
        histogram = self._histograms[metric.name]
        (histogram.labels(*labels) if labels else histogram).observe(value)

    def set(self, metric: Metric, value: float, *labels: str) -> None:
        """Has a gauge show the value."""
        gauge = self._gauges[metric.name]
        (gauge.labels(*labels) if labels else gauge).set(value)

    @contextmanager
    def under_way(self, metric: Metric, *labels: str) -> Iterator[None]:
        """One more in a gauge, until the block ends."""
        gauge = self._gauges[metric.name].labels(*labels)
        gauge.inc()
        try:
            yield
        finally:
            gauge.dec()


@asynccontextmanager
async def serving_metrics(metrics: Metrics, address: str) -> AsyncIterator[str]:
    """Serves the metrics by HTTP until the block ends; gives the address with the port that it got.

    Raises:
        InvalidRequest: it is no address, or cannot be listened at.
        AlreadyExists: something listens there.
    """
    with ExitStack() as stack:
        server = stack.enter_context(listening(metrics.registry, address))
        try:
            yield f"{address.rpartition(':')[0]}:{server.server_port}"
        finally:
            await asyncio.to_thread(stack.close)


@contextmanager
def listening(registry: CollectorRegistry, address: str) -> Iterator[HTTPServer]:
    """A server of what a registry collects, by a thread of its own, until the block ends.

    Raises:
        InvalidRequest: it is no address, or cannot be listened at.
        AlreadyExists: something listens there.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or int(port) > _HIGHEST_PORT:
        raise InvalidRequest.of("metrics_address", f"must be host:port, not {address!r}")
    try:
        server, thread = prometheus_client.start_http_server(
            int(port), host.strip("[]"), registry=registry
        )
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            text = f"something listens at {address}, the metrics_address, already"
            raise AlreadyExists(text, address=address) from error
        raise InvalidRequest.of("metrics_address", f"cannot listen at {address!r}") from error
    try:
        yield server
    finally:
        _end(server)
        server.server_close()
        thread.join()


def _end(server: HTTPServer) -> None:
    """Has the server stop at once; by itself it looks whether to stop twice a second."""
    ending = Thread(target=server.shutdown)
    ending.start()
    host, port = server.server_address[:2]
    with suppress(OSError):
        create_connection((str(host), port), timeout=1).close()
    ending.join()
