"""Spans of calls and of the steps of answers, sent by OTLP."""

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
from scaar.core.call_context import CallContext, current_call
from scaar.runtime.carrying import TRACEPARENT_KEY
from scaar.runtime.handlers import Behavior, CallInterceptor, Context
from scaar.telemetry.call_codes import OK, code_of

REQUEST_ID = "scaar.request_id"
"""The attribute that every span of a request has."""

# What a collector that does not answer may hold up a service that stops.
_EXPORT_TIMEOUT_S = 3
_MOST_SPANS = 2048
_SERVER_FAULTS = frozenset(
    {"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}
)
"""The codes by which a server's span is an error, by OpenTelemetry's conventions for gRPC."""


@asynccontextmanager
async def open_tracer(endpoint: str, *, service: str) -> AsyncIterator[trace.Tracer]:
    """A tracer whose spans go to the endpoint, those that are left when the block ends too.

    A collector that cannot be reached loses spans and stops nothing.
    """
    told = {"service.name": f"scaar-{service}", "service.version": __version__}
    exporter = OTLPSpanExporter(
        endpoint=endpoint, insecure=endpoint.startswith("http://"), timeout=_EXPORT_TIMEOUT_S
    )
    # A provider of its own: the process's global one is left to whoever embeds scaar.
    provider = TracerProvider(resource=Resource.create(told), shutdown_on_exit=False)
    # One batch at the end, so that a lost collector is waited for once.
    processor = BatchSpanProcessor(
        exporter, max_queue_size=_MOST_SPANS, max_export_batch_size=_MOST_SPANS
    )
    provider.add_span_processor(processor)
    try:
        yield provider.get_tracer("scaar", __version__)
    finally:
        await asyncio.to_thread(provider.shutdown)


class TracingInterceptor(CallInterceptor):
    """Makes a span of every call, below the one that its caller names.

    Calls that are made for it carry it on. Those of health and reflection are left out.
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
            # Whatever goes wrong is told by its code: the text of an error may quote anything.
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
    """The place in a trace that a call has, as OpenTelemetry's context."""
    return TraceContextTextMapPropagator().extract({TRACEPARENT_KEY: call.traceparent})


def traceparent_of(span: trace.Span) -> str:
    """The place in a trace that is below the span."""
    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier, trace.set_span_in_context(span))
    return carrier.get(TRACEPARENT_KEY, "")
