"""A collector of traces on loopback, as services send them by OTLP."""

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
    """Keeps what it is sent: every span, and the service that sent it."""

    endpoint: str = ""
    spans: list[tuple[str, Span]] = field(default_factory=list)

    def Export(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        for each in request.resource_spans:
            told = {one.key: one.value.string_value for one in each.resource.attributes}
            for scope in each.scope_spans:
                self.spans += [(told["service.name"], span) for span in scope.spans]
        return trace_service_pb2.ExportTraceServiceResponse()

    def named(self, name: str) -> list[Span]:
        """The spans of that name, of all services."""
        return [span for _, span in self.spans if span.name == name]


@contextmanager
def running_collector() -> Iterator[Collector]:
    """A collector that takes spans until the block ends."""
    found = Collector()
    with ThreadPoolExecutor(2) as executor:
        server = grpc.server(executor)
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server(found, server)  # type: ignore[no-untyped-call]
        found.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        yield found
        server.stop(None).wait()


def attributes(span: Span) -> dict[str, object]:
    """What the span says, by its name."""
    return {
        each.key: getattr(each.value, str(each.value.WhichOneof("value")))
        for each in span.attributes
    }
