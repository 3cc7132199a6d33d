"""OTLP collector that stores the names of spans."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """The names of the spans of each trace, by the service that sent them."""

    def __init__(self) -> None:
        self.endpoint = ""
        self.spans: dict[str, set[tuple[str, str]]] = {}

    def Export(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        for each in request.resource_spans:
            said = {one.key: one.value.string_value for one in each.resource.attributes}
            for scope in each.scope_spans:
                for span in scope.spans:
                    trace = self.spans.setdefault(span.trace_id.hex(), set())
                    trace.add((said["service.name"], span.name))
        return trace_service_pb2.ExportTraceServiceResponse()


@contextmanager
def collecting(host: str) -> Iterator[Collector]:
    """Run a collector on a free port for the duration of the block."""
    found = Collector()
    with ThreadPoolExecutor(2) as threads:
        server = grpc.server(threads)
        add: Any = trace_service_pb2_grpc.add_TraceServiceServicer_to_server
        add(found, server)
        found.endpoint = f"http://{host}:{server.add_insecure_port(f'{host}:0')}"
        server.start()
        try:
            yield found
        finally:
            server.stop(None).wait()
