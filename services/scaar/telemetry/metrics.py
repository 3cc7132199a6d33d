"""Metrics of a process, served to Prometheus over HTTP."""

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
from scaar.runtime.addresses import is_address
from scaar.telemetry.metric_table import (
    BREAKER_STATE,
    METRICS,
    POLICY_EXPECTED_SEARCHES,
    POLICY_EXPECTED_TRIGGER_RATE,
    SERVICE_INFO,
    Kind,
    Metric,
)

_STATES = (BREAKER_STATE, POLICY_EXPECTED_SEARCHES, POLICY_EXPECTED_TRIGGER_RATE)


class Metrics:
    """The metrics of one process. Safe to read while they change.

    Labels are positional, in the order of :mod:`~scaar.telemetry.metric_table`.
    """

    def __init__(self, service: str) -> None:
        # Without this every counter has a second series with the time of its creation.
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._counters: Mapping[str, Counter] = {
            each.name: Counter(each.name, each.help, each.labels, registry=self.registry)
            for each in METRICS
            if each.kind is Kind.COUNTER
        }
        # Several processes may share the metrics: gauges are summed, states and constants are not.
        self._gauges: Mapping[str, Gauge] = {
            each.name: Gauge(
                each.name,
                each.help,
                each.labels,
                registry=self.registry,
                multiprocess_mode="livemax" if each in _STATES else "livesum",
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
        """Increase a counter."""
        counter = self._counters[metric.name]
        (counter.labels(*labels) if labels else counter).inc(by)

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Add a value to a histogram."""
        histogram = self._histograms[metric.name]
        (histogram.labels(*labels) if labels else histogram).observe(value)

    def set(self, metric: Metric, value: float, *labels: str) -> None:
        """Set a gauge."""
        gauge = self._gauges[metric.name]
        (gauge.labels(*labels) if labels else gauge).set(value)

    @contextmanager
    def in_progress(self, metric: Metric, *labels: str) -> Iterator[None]:
        """Increase a gauge by 1 for the duration of the block."""
        gauge = self._gauges[metric.name].labels(*labels)
        gauge.inc()
        try:
            yield
        finally:
            gauge.dec()


@asynccontextmanager
async def serving_metrics(metrics: Metrics, address: str) -> AsyncIterator[str]:
    """Serve the metrics over HTTP until the block ends; yield the address with the bound port.

    Raises:
        InvalidRequest: the address is invalid, or cannot be bound.
        AlreadyExists: the address is in use.
    """
    with ExitStack() as stack:
        server = stack.enter_context(listening(metrics.registry, address))
        try:
            yield f"{address.rpartition(':')[0]}:{server.server_port}"
        finally:
            await asyncio.to_thread(stack.close)


@contextmanager
def listening(registry: CollectorRegistry, address: str) -> Iterator[HTTPServer]:
    """Serve a registry over HTTP, in a thread, until the block ends.

    Raises:
        InvalidRequest: the address is invalid, or cannot be bound.
        AlreadyExists: the address is in use.
    """
    if not is_address(address):
        raise InvalidRequest.of("metrics_address", f"must be host:port, not {address!r}")
    host, _, port = address.rpartition(":")
    try:
        server, thread = prometheus_client.start_http_server(
            int(port), host.strip("[]"), registry=registry
        )
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            text = f"metrics_address {address} is already in use"
            raise AlreadyExists(text, address=address, setting="metrics_address") from error
        raise InvalidRequest.of("metrics_address", f"cannot listen on {address!r}") from error
    try:
        yield server
    finally:
        _end(server)
        server.server_close()
        thread.join()


def _end(server: HTTPServer) -> None:
    """Stop the server without the half second that its poll interval takes."""
    ending = Thread(target=server.shutdown)
    ending.start()
    host, port = server.server_address[:2]
    with suppress(OSError):
        create_connection((str(host), port), timeout=1).close()
    ending.join()
