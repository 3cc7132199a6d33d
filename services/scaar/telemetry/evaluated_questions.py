"""Traces of the questions of evaluations."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from scaar.core.calls.context import CallContext, in_call
from scaar.core.ports import Answerer
from scaar.core.types import AnswerEvent, AnswerFinished, AnswerRequest
from scaar.telemetry.answers import failure_of
from scaar.telemetry.tracing import REQUEST_ID, traceparent_of


class TracedQuestions:
    """An :class:`~scaar.core.ports.Answerer` that records each answer of another one as a trace.

    All calls of an answer, retries included, are below its root span ``question``.
    """

    def __init__(self, answerer: Answerer, tracer: trace.Tracer) -> None:
        self._answerer = answerer
        self._tracer = tracer

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        attributes = {REQUEST_ID: request.request_id, "scaar.policy": request.policy.label}
        span = self._tracer.start_span(
            "question", context=_NOWHERE, kind=SpanKind.CLIENT, attributes=attributes
        )
        call = CallContext(request.request_id, traceparent_of(span))
        end = "provenance_only" if request.provenance_only else "cancelled"
        try:
            async with aclosing(self._answerer.stream_answer(request)) as events:
                while True:
                    # The context must not leak to the caller, so nothing is yielded within it.
                    with in_call(call):
                        event = await anext(events, None)
                    if event is None:
                        return
                    if isinstance(event, AnswerFinished):
                        end = event.answer.end.value
                    yield event
        except Exception as error:
            end = failure_of(error)
            span.set_status(Status(StatusCode.ERROR, end))
            raise
        finally:
            span.set_attribute("scaar.end", end)
            span.end()


_NOWHERE: Any = trace.set_span_in_context(trace.INVALID_SPAN)
"""Context of a root span."""
