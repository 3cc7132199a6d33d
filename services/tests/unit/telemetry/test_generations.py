"""Generations outside of traces and in traces that are not sampled."""

import json
from contextlib import aclosing
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from scaar.core.calls.context import CallContext, in_call
from scaar.core.types import Capability, GenerateRequest, GenerationEvent
from scaar.telemetry.generations import TracedGenerator
from scaar.testing.fakes import SAMPLED_MODEL, ScriptedGenerator

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture
def exported() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def traced(exported: InMemorySpanExporter) -> TracedGenerator:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exported))
    ticks = iter(range(1_000_000_000, 10_000_000_000, 500_000_000))
    return TracedGenerator(
        ScriptedGenerator(lambda _: [(" Paris", -0.1), (".", -0.1)], model=SAMPLED_MODEL),
        provider.get_tracer("test"),
        content=True,
        clock_ns=lambda: next(ticks),
    )


async def events(
    generator: TracedGenerator, request: GenerateRequest, traceparent: str = ""
) -> list[GenerationEvent]:
    with in_call(CallContext("r-1", traceparent)):
        async with aclosing(generator.generate(request)) as found:
            return [event async for event in found]


@pytest.mark.parametrize("traceparent", ["", f"00-{TRACE}-{PARENT}-00"])
async def test_a_generation_without_a_sampled_trace_has_no_span(
    traced: TracedGenerator, exported: InMemorySpanExporter, traceparent: str
) -> None:
    assert await events(traced, GenerateRequest("Where?"), traceparent)
    assert not exported.get_finished_spans()


async def test_samples_add_up_in_one_span(
    traced: TracedGenerator, exported: InMemorySpanExporter
) -> None:
    await traced.describe_model()
    request = GenerateRequest("Where?", temperature=0.5, n=2, seed=1)
    await events(traced, request, f"00-{TRACE}-{PARENT}-01")
    (span,) = exported.get_finished_spans()
    found = dict(span.attributes or {})
    assert span.name == "text_completion scripted"
    assert found["scaar.request_id"] == "r-1"
    assert found["gen_ai.request.choice.count"] == 2
    assert found["gen_ai.request.temperature"] == 0.5
    assert found["gen_ai.usage.output_tokens"] == 4
    assert found["gen_ai.response.finish_reasons"] == ("stop", "stop")
    assert found["gen_ai.response.time_to_first_chunk"] == 0.5
    written = json.loads(str(found["gen_ai.output.messages"]))
    assert [each["parts"][0]["content"] for each in written] == [" Paris."] * 2


async def test_text_of_the_system_is_the_first_message(exported: InMemorySpanExporter) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exported))
    described = replace(
        SAMPLED_MODEL, capabilities=SAMPLED_MODEL.capabilities | {Capability.SYSTEM_TURN}
    )
    generator = ScriptedGenerator(lambda _: [(" Paris", -0.1)], model=described)
    traced = TracedGenerator(generator, provider.get_tracer("test"), content=True)
    request = GenerateRequest("Where?", system="Be brief.")
    await events(traced, request, f"00-{TRACE}-{PARENT}-01")
    (span,) = exported.get_finished_spans()
    messages = json.loads(str(dict(span.attributes or {})["gen_ai.input.messages"]))
    given = [(each["role"], each["parts"][0]["content"]) for each in messages]
    assert given == [("system", "Be brief."), ("user", "Where?")]
