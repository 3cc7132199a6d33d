"""Spans of the generations of a model, by OpenTelemetry's conventions for generative AI."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from itertools import zip_longest

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from scaar.core.calls.context import current_call
from scaar.core.ports import Generator
from scaar.core.types import (
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    GenerationStart,
    Message,
    MessageRole,
    ModelDescription,
    Token,
)
from scaar.core.wrapped_generator import WrappedGenerator
from scaar.telemetry import gen_ai
from scaar.telemetry.answers import failure_of
from scaar.telemetry.tracing import REQUEST_ID, parent_of

_Attributes = dict[str, str | int | float | tuple[str, ...]]


class TracedGenerator(WrappedGenerator):
    """A :class:`~scaar.core.ports.Generator` that records each generation of another one as a span.

    The span is a child of the current call's; outside of a traced call there is none. Prompt and
    text are recorded only with ``content``.
    """

    def __init__(
        self,
        generator: Generator,
        tracer: trace.Tracer,
        *,
        content: bool,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        super().__init__(generator)
        self._tracer = tracer
        self._content = content
        self._clock_ns = clock_ns
        self._model: ModelDescription | None = None

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        span = self._start(request)
        if not span.is_recording():
            async with aclosing(self._generator.generate(request)) as events:
                async for event in events:
                    yield event
            return
        generation = _Generation(self._content, self._clock_ns)
        failure: Exception | None = None
        try:
            async with aclosing(self._generator.generate(request)) as events:
                async for event in events:
                    generation.add(event)
                    yield event
        except Exception as error:
            failure = error
            raise
        finally:
            if failure is not None:
                # Only the reason is recorded: an error's text may quote a question or an answer.
                span.set_attribute(gen_ai.ERROR, failure_of(failure))
                span.set_status(Status(StatusCode.ERROR, failure_of(failure)))
            span.set_attributes(generation.attributes())
            span.end(self._clock_ns())

    async def describe_model(self) -> ModelDescription:
        self._model = await self._generator.describe_model()
        return self._model

    def _start(self, request: GenerateRequest) -> trace.Span:
        call = current_call()
        if call is None or not call.traceparent:
            return trace.INVALID_SPAN
        attributes: _Attributes = {
            REQUEST_ID: call.request_id,
            gen_ai.OPERATION: gen_ai.TEXT_COMPLETION,
            gen_ai.STREAM: True,
            gen_ai.MAX_TOKENS: request.max_tokens,
            gen_ai.TEMPERATURE: request.temperature,
        }
        name = gen_ai.TEXT_COMPLETION
        if self._model is not None:
            name = f"{name} {self._model.model}"
            attributes[gen_ai.PROVIDER] = self._model.engine
            attributes[gen_ai.MODEL] = self._model.model
        if request.n > 1:
            attributes[gen_ai.CHOICES] = request.n
        if self._content:
            given = [
                Message(MessageRole.SYSTEM, request.system),
                Message(MessageRole.USER, request.prompt),
                Message(MessageRole.ASSISTANT, request.prefix),
            ]
            messages = [each for each in given if each.content]
            attributes[gen_ai.INPUT_MESSAGES] = gen_ai.input_messages(messages)
        return self._tracer.start_span(
            name,
            context=parent_of(call),
            kind=SpanKind.CLIENT,
            attributes=attributes,
            start_time=self._clock_ns(),
        )


class _Generation:
    """What a generation reports: its usage, its ends, and its texts if they are recorded."""

    def __init__(self, content: bool, clock_ns: Callable[[], int]) -> None:
        self._content = content
        self._clock_ns = clock_ns
        self._began_ns = clock_ns()
        self._first_ns: int | None = None
        self._prompt_tokens = 0
        self._tokens = self._ended_tokens = 0
        """Tokens of the sample in progress, and of those that have ended."""
        self._ends = list[GenerationEnd]()
        self._texts: dict[int, list[str]] = {}
        """The texts of the tokens by sample."""

    def add(self, event: GenerationEvent) -> None:
        match event:
            case GenerationStart(prompt_tokens=prompt_tokens):
                self._prompt_tokens = prompt_tokens
            case Token(text=text, sample=sample):
                if self._first_ns is None:
                    self._first_ns = self._clock_ns()
                self._tokens += 1
                if self._content:
                    self._texts.setdefault(sample, []).append(text)
            case GenerationEnd():
                # An end may count a token without a text, the end-of-sequence token.
                self._ended_tokens += event.generated_tokens + event.thinking_tokens
                self._tokens = 0
                self._ends.append(event)

    def attributes(self) -> _Attributes:
        """Return the attributes of what was generated, whether or not the generation ended."""
        thinking = sum(each.thinking_tokens for each in self._ends)
        found: _Attributes = {gen_ai.OUTPUT_TOKENS: self._tokens + self._ended_tokens}
        reasons = tuple(gen_ai.finish_reason(each.finish_reason) for each in self._ends)
        if prompt_tokens := self._prompt_tokens or max(
            (each.prompt_tokens for each in self._ends), default=0
        ):
            found[gen_ai.INPUT_TOKENS] = prompt_tokens
        if thinking:
            found[gen_ai.THINKING_TOKENS] = thinking
        if reasons:
            found[gen_ai.FINISH_REASONS] = reasons
        if self._first_ns is not None:
            found[gen_ai.FIRST_TOKEN_S] = (self._first_ns - self._began_ns) / 1e9
        if self._content:
            written = ["".join(texts) for texts in self._texts.values()]
            found[gen_ai.OUTPUT_MESSAGES] = gen_ai.output_messages(
                zip_longest(written, reasons, fillvalue="")
            )
        return found
