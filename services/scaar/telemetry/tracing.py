"""OTLP traces of calls."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from scaar import __version__
from scaar.core.calls.context import CallContext, current_call
from scaar.runtime.call_metadata import TRACEPARENT_KEY
from scaar.runtime.handlers import Behavior, CallInterceptor, Context
from scaar.telemetry.calls import OK, code_of

REQUEST_ID = "scaar.request_id"
"""Attribute of every span of a request."""

# Bounds the delay that an unreachable collector adds to the shutdown of a service.
_EXPORT_TIMEOUT_S = 3
_MAX_SPANS = 2048
_MAX_SPANS_WITH_CONTENT, _BATCHES_WITH_CONTENT = 128, 4
_SERVER_FAULTS = frozenset(
    {"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}
)
"""Codes that mark a server's span as an error, by OpenTelemetry's conventions for gRPC."""


@asynccontextmanager
async def open_tracer(
    endpoint: str, *, service: str, content: bool = False
) -> AsyncIterator[trace.Tracer]:
    """Open a tracer that exports spans to the endpoint; the remaining ones when the block ends.

    While the collector is unreachable spans are lost; nothing else fails. Spans with ``content``
    are sent in smaller batches, because collectors reject messages above 4 MiB by default.
    """
    attributes = {"service.name": f"scaar-{service}", "service.version": __version__}
    exporter = OTLPSpanExporter(
        endpoint=endpoint, insecure=endpoint.startswith("http://"), timeout=_EXPORT_TIMEOUT_S
    )
    # The global provider of the process belongs to the application that embeds scaar.
    provider = TracerProvider(resource=Resource.create(attributes), shutdown_on_exit=False)
    # One batch, so that shutdown waits for an unreachable collector only once.
    largest = _MAX_SPANS_WITH_CONTENT if content else _MAX_SPANS
    processor = BatchSpanProcessor(
        exporter,
        max_queue_size=_BATCHES_WITH_CONTENT * largest if content else largest,
        max_export_batch_size=largest,
    )
    provider.add_span_processor(processor)
    try:
        yield provider.get_tracer("scaar", __version__)
    finally:
        await asyncio.to_thread(provider.shutdown)


class TracingInterceptor(CallInterceptor):
    """Records a span of every call, as a child of the caller's span, and propagates it.

    Calls of health and reflection have no span.
    """

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer

    def around(self, behavior: Behavior, method: str) -> Behavior:
        name = method.strip("/")
        service, _, method = name.partition("/")
        attributes = {"rpc.system": "grpc", "rpc.service": service, "rpc.method": method}

        async def traced(request: Any, context: Context) -> Any:
            call = current_call() or CallContext()
            code = OK
            # Only the status code is recorded: an error's text may quote a question or an answer.
            with self._tracer.start_as_current_span(
                name,
                context=parent_of(call),
                kind=SpanKind.SERVER,
                attributes=attributes,
                record_exception=False,
                set_status_on_exception=False,
            ) as span:
                call.traceparent = traceparent_of(span)
                try:
                    return await behavior(request, context)
                except BaseException as error:
                    code = code_of(error, context)
                    raise
                finally:
                    span.set_attribute(REQUEST_ID, call.request_id)
                    span.set_attribute("rpc.grpc.status_code", grpc.StatusCode[code].value[0])
                    if code in _SERVER_FAULTS:
                        span.set_status(Status(StatusCode.ERROR, code))

        return traced


def parent_of(call: CallContext) -> Any:
    """Return the OpenTelemetry context of a call's parent span."""
    return TraceContextTextMapPropagator().extract({TRACEPARENT_KEY: call.traceparent})


def traceparent_of(span: trace.Span) -> str:
    """Return the ``traceparent`` of calls below the span."""
    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier, trace.set_span_in_context(span))
    return carrier.get(TRACEPARENT_KEY, "")
