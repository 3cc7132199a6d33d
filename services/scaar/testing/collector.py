"""A collector of OTLP traces on loopback."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Stores every received span and the service that sent it."""

    endpoint: str = ""
    spans: list[tuple[str, Span]] = field(default_factory=list)

    def Export(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        for each in request.resource_spans:
            attributes = {one.key: one.value.string_value for one in each.resource.attributes}
            for scope in each.scope_spans:
                self.spans += [(attributes["service.name"], span) for span in scope.spans]
        return trace_service_pb2.ExportTraceServiceResponse()

    def named(self, name: str) -> list[Span]:
        """Return the spans of this name from all services."""
        return [span for _, span in self.spans if span.name == name]


@contextmanager
def running_collector() -> Iterator[Collector]:
    """Run a collector until the block ends."""
    found = Collector()
    with ThreadPoolExecutor(2) as executor:
        server = grpc.server(executor)
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server(found, server)  # type: ignore[no-untyped-call]
        found.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        yield found
        server.stop(None).wait()


def attributes(span: Span) -> dict[str, object]:
    """Return the attributes of a span by name."""
    return {
        each.key: getattr(each.value, str(each.value.WhichOneof("value")))
        for each in span.attributes
    }
