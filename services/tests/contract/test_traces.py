"""The trace of an answer over all services, as a collector is sent it: real sockets throughout."""

import asyncio
import io
import json
import logging
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import replace

import grpc
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from scaar.core.calls.context import CallContext, in_call
from scaar.core.errors import BackendUnavailable, CapabilityMissing, InvalidRequest
from scaar.core.loop.loop import Ports
from scaar.core.types import (
    Answer,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    Message,
    MessageRole,
    Passage,
    PolicyRequest,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime.health import wait_until_serving
from scaar.runtime.logs import logging_to
from scaar.runtime.settings import ServiceSettings
from scaar.telemetry.setup import open_telemetry
from scaar.testing.collector import Collector, attributes, running_collector
from scaar.testing.fakes import (
    SAMPLED_MODEL,
    InMemoryRetriever,
    Piece,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.watched_services import watched_services

QUESTION = "Where was Ada born?"
PASSAGES = (Passage("p1", "Ada", "Ada was born in London."),)
END: Piece = (" So the answer is London.", -1 / 3)
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
REQUEST = AnswerRequest(QUESTION, request_id="r-1")
STEPS = ("draft", "judge", "query", "retrieve", "regenerate")


@pytest.fixture
def collector() -> Iterator[Collector]:
    with running_collector() as found:
        yield found


def script(request: GenerateRequest) -> list[Piece | Exception]:
    """Unsure of Paris on its own; with the passage, sure of London."""
    if request.prefix:
        return [END]
    place: Piece = (" London.", -0.01) if "in London" in request.prompt else (" Paris.", -1.7)
    return [(" Ada", -0.01), (" was born", -1 / 7), (" in", -0.2), place, END]


def ports(generator: ScriptedGenerator | None = None) -> Ports:
    return Ports(
        generator or ScriptedGenerator(script),
        ScriptedScorer({"Ada": 0.3, "Paris.": 2 / 3}),
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": PASSAGES}),
    )


def traced(collector: Collector, **more: object) -> ServiceSettings:
    reported = {"otlp_endpoint": collector.endpoint, "stop_grace_s": 0, **more}
    return ServiceSettings.model_validate(reported)


async def answer(
    settings: ServiceSettings,
    call: CallContext,
    requested: Ports | None = None,
    request: AnswerRequest = REQUEST,
    *,
    trace_content: bool = False,
) -> Answer:
    async with watched_services(
        requested or ports(), settings, trace_content=trace_content
    ) as services:
        with in_call(call):
            async with aclosing(services.answerer.stream_answer(request)) as events:
                async for event in events:
                    if isinstance(event, AnswerFinished):
                        return event.answer
    raise AssertionError("it did not finish")


async def test_one_answer_is_one_connected_trace_over_all_services(collector: Collector) -> None:
    await answer(traced(collector), CallContext())
    assert {service for service, _ in collector.spans} == {
        f"scaar-{name}"
        for name in ("orchestrator", "generator", "scorer", "query-builder", "retriever")
    }
    assert len({span.trace_id for _, span in collector.spans}) == 1
    (root,) = [span for _, span in collector.spans if not span.parent_span_id]
    assert root.name == "scaar.v1.OrchestratorService/StreamAnswer"
    # One level: the calls that were made for the answer, and its steps.
    assert {span.parent_span_id for _, span in collector.spans} == {b"", root.span_id}
    assert {attributes(span)["scaar.request_id"] for _, span in collector.spans} == {"r-1"}
    assert {
        f"{attributes(span)['rpc.service']}" for _, span in collector.spans if is_call(span)
    } == {
        f"scaar.v1.{name}Service"
        for name in ("Orchestrator", "Generator", "Scorer", "QueryBuilder", "Retriever")
    }


def is_call(span: Span) -> bool:
    return span.kind == Span.SPAN_KIND_SERVER


async def test_the_steps_of_an_answer_follow_one_another_within_its_call(
    collector: Collector,
) -> None:
    await answer(traced(collector), CallContext())
    (root,) = collector.named("scaar.v1.OrchestratorService/StreamAnswer")
    steps = sorted(
        (span for _, span in collector.spans if span.kind == Span.SPAN_KIND_INTERNAL),
        key=lambda span: span.start_time_unix_nano,
    )
    # The concluding sentence is drafted and never judged.
    assert [span.name for span in steps] == [*STEPS, "draft"]
    times = [root.start_time_unix_nano]
    for span in steps:
        times += [span.start_time_unix_nano, span.end_time_unix_nano]
    assert [*times, root.end_time_unix_nano] == sorted([*times, root.end_time_unix_nano])
    assert attributes(steps[1]) == {
        "scaar.request_id": "r-1",
        "scaar.sentence": 0,
        "scaar.uncertain": True,
        "scaar.retrieving": True,
    }
    reported = attributes(root)
    assert reported["scaar.policy"] == "scaar"
    assert reported["scaar.end"] == "answer_phrase"
    assert reported["scaar.retrievals"] == 1
    assert reported["rpc.grpc.status_code"] == 0


def conventional(span: Span) -> dict[str, object]:
    """The attributes of the conventions for generative AI, without their prefix."""
    return {
        name.removeprefix("gen_ai."): value
        for name, value in attributes(span).items()
        if name.startswith("gen_ai.")
    }


def generations(collector: Collector) -> list[Span]:
    return sorted(
        collector.named("text_completion scripted"), key=lambda span: span.start_time_unix_nano
    )


async def test_an_answer_its_generations_and_its_retrieval_have_conventional_attributes(
    collector: Collector,
) -> None:
    finished = await answer(traced(collector), CallContext())
    (root,) = collector.named("scaar.v1.OrchestratorService/StreamAnswer")
    assert conventional(root) == {
        "operation.name": "invoke_agent",
        "agent.name": "scaar",
        "provider.name": "fake",
        "request.model": "scripted",
        "data_source.id": "lab",
        "usage.input_tokens": finished.usage.prompt_tokens,
        "usage.output_tokens": finished.usage.generated_tokens,
    }
    (retrieval,) = collector.named("retrieve")
    found = conventional(retrieval)
    (document,) = json.loads(str(found.pop("retrieval.documents")))
    assert found == {"operation.name": "retrieval", "data_source.id": "lab"}
    assert document["id"] == "p1"
    assert isinstance(document["score"], float)
    assert set(document) == {"id", "score"}


class Thinking(ScriptedGenerator):
    """Thinks for seven tokens, and counts the token that ends a text."""

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        async with aclosing(super().generate(request)) as events:
            async for event in events:
                if isinstance(event, GenerationEnd):
                    written = event.generated_tokens + 1
                    event = replace(event, generated_tokens=written, thinking_tokens=7)
                yield event


async def test_thoughts_and_tokens_without_a_text_are_counted(collector: Collector) -> None:
    usage = (await answer(traced(collector), CallContext(), ports(Thinking(script)))).usage
    found = [conventional(span) for span in generations(collector)]
    written = sum(int(str(each["usage.output_tokens"])) for each in found)
    thoughts = sum(int(str(each.get("usage.reasoning.output_tokens", 0))) for each in found)
    assert thoughts == usage.thinking_tokens > 0
    assert written == usage.generated_tokens + thoughts
    (root,) = collector.named("scaar.v1.OrchestratorService/StreamAnswer")
    assert conventional(root)["usage.output_tokens"] == written


async def test_the_generations_of_an_answer_add_up_to_its_usage(collector: Collector) -> None:
    usage = (await answer(traced(collector), CallContext())).usage
    written = generations(collector)
    assert len(written) == usage.llm_calls > 1
    assert {span.kind for span in written} == {Span.SPAN_KIND_CLIENT}
    found = [conventional(span) for span in written]
    assert sum(int(str(each["usage.input_tokens"])) for each in found) == usage.prompt_tokens
    assert sum(int(str(each["usage.output_tokens"])) for each in found) == usage.generated_tokens
    for each in found:
        assert each["operation.name"] == "text_completion"
        assert (each["request.model"], each["provider.name"]) == ("scripted", "fake")
        assert each["request.stream"] is True
        assert float(str(each["response.time_to_first_chunk"])) >= 0
    # The draft is left after its uncertain sentence; the last generation wrote its whole text.
    assert "response.finish_reasons" in found[-1]


async def test_texts_are_in_spans_only_if_the_setting_is_on(collector: Collector) -> None:
    finished = await answer(traced(collector), CallContext(), trace_content=True)
    (root,) = collector.named("scaar.v1.OrchestratorService/StreamAnswer")
    asked, written = conventional(root)["input.messages"], conventional(root)["output.messages"]
    assert json.loads(str(asked)) == [
        {"role": "user", "parts": [{"type": "text", "content": QUESTION}]}
    ]
    assert json.loads(str(written)) == [
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": finished.text}],
            "finish_reason": "stop",
        }
    ]
    (retrieval,) = collector.named("retrieve")
    assert "Ada" in str(conventional(retrieval)["retrieval.query.text"])
    (document,) = json.loads(str(conventional(retrieval)["retrieval.documents"]))
    assert (document["title"], document["content"]) == ("Ada", "Ada was born in London.")
    _, again, last = (conventional(span) for span in generations(collector))
    (prompt,) = json.loads(str(again["input.messages"]))
    assert "Ada was born in London." in prompt["parts"][0]["content"]
    prompt, prefix = json.loads(str(last["input.messages"]))
    assert (prompt["role"], prefix["role"]) == ("user", "assistant")
    (output,) = json.loads(str(last["output.messages"]))
    whole = prefix["parts"][0]["content"] + output["parts"][0]["content"]
    assert whole == finished.text


async def test_the_messages_of_a_conversation_are_its_input(collector: Collector) -> None:
    turns = (("user", "Who was Ada?"), ("assistant", "A mathematician."), ("user", QUESTION))
    messages = tuple(Message(MessageRole(role), text) for role, text in turns)
    request = replace(REQUEST, question="", messages=messages)
    await answer(traced(collector), CallContext(), request=request, trace_content=True)
    (root,) = collector.named("scaar.v1.OrchestratorService/StreamAnswer")
    found = json.loads(str(conventional(root)["input.messages"]))
    assert [(each["role"], each["parts"][0]["content"]) for each in found] == list(turns)


def reflecting(request: GenerateRequest) -> list[Piece | Exception]:
    """Retrieve for the first segment, and conclude."""
    if request.prefix.endswith("</paragraph>"):
        return [("[Relevant]", -0.1), (" Ada was born in London.", -0.1), ("[No Retrieval]", -0.1)]
    return [END] if request.prefix else [("[Retrieval]", -0.1)]


async def test_the_decisions_and_the_ranking_of_reflection_tokens_are_steps(
    collector: Collector,
) -> None:
    generator = ScriptedGenerator(reflecting, model=SAMPLED_MODEL)
    request = replace(REQUEST, policy=PolicyRequest("self_rag"))
    await answer(traced(collector), CallContext(), ports(generator), request)
    first, second = (attributes(span) for span in collector.named("weigh"))
    assert (first["scaar.decision"], first["scaar.sentence"]) == ("retrieve", 0)
    assert (second["scaar.decision"], second["scaar.sentence"]) == ("skip", 1)
    (ranked,) = collector.named("rank")
    assert attributes(ranked)["scaar.candidates"] == 1


async def test_a_trace_continues_the_clients_trace(collector: Collector) -> None:
    client = CallContext(traceparent=f"00-{TRACE}-{PARENT}-01")
    await answer(traced(collector), client)
    assert {span.trace_id.hex() for _, span in collector.spans} == {TRACE}
    (root,) = collector.named("scaar.v1.OrchestratorService/StreamAnswer")
    assert root.parent_span_id.hex() == PARENT


async def test_spans_that_the_client_does_not_sample_are_not_exported(collector: Collector) -> None:
    await answer(traced(collector), CallContext(traceparent=f"00-{TRACE}-{PARENT}-00"))
    assert not collector.spans


async def test_the_log_has_the_id_of_the_trace(collector: Collector) -> None:
    stream = io.StringIO()
    settings = traced(collector, log_format="json", log_level="info")
    with logging_to(settings, service="all", stream=stream):
        await answer(settings, CallContext())
    (trace,) = {span.trace_id.hex() for _, span in collector.spans}
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert {line["trace_id"] for line in lines if line["logger"].startswith("scaar.")} == {trace}


async def test_a_call_that_fails_is_an_error_without_the_text_of_it(collector: Collector) -> None:
    secret = "Rumpelstiltskin"
    broken = ScriptedGenerator(lambda request: [BackendUnavailable(secret, target="tgi:80")])
    with pytest.raises(BackendUnavailable):
        await answer(traced(collector), CallContext(), ports(broken))
    for name in ("OrchestratorService/StreamAnswer", "GeneratorService/Generate"):
        (span,) = collector.named(f"scaar.v1.{name}")
        assert span.status.code == Status.STATUS_CODE_ERROR
        assert attributes(span)["rpc.grpc.status_code"] == grpc.StatusCode.UNAVAILABLE.value[0]
    (generation,) = generations(collector)
    assert generation.status.code == Status.STATUS_CODE_ERROR
    assert attributes(generation)["error.type"] == "backend_unavailable"
    (root,) = collector.named("scaar.v1.OrchestratorService/StreamAnswer")
    assert attributes(root)["scaar.end"] == "backend_unavailable"
    assert attributes(root)["error.type"] == "backend_unavailable"
    assert secret not in str(collector.spans)


async def test_no_word_of_question_passage_or_answer_is_in_a_span(collector: Collector) -> None:
    await answer(traced(collector), CallContext())
    reported = str(collector.spans)
    assert not [word for word in ("Ada", "London", "Paris", "born") if word in reported]


class Over(logging.Handler):
    """Hears that the server, too, is done with an answer that was left."""

    def __init__(self) -> None:
        super().__init__()
        self.cancelled = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if "StreamAnswer CANCELLED" in record.getMessage():
            self.cancelled.set()


async def test_the_draft_of_a_cancelled_answer_has_a_span(collector: Collector) -> None:
    slow = ports(ScriptedGenerator(script, delay_s=0.05))
    settings = traced(collector, log_level="info")
    over = Over()
    with logging_to(settings, service="all"):
        logging.getLogger().addHandler(over)
        async with watched_services(slow, settings) as services:
            async with aclosing(services.answerer.stream_answer(REQUEST)) as events:
                async for event in events:
                    if not isinstance(event, AnswerStarted):
                        break
            async with asyncio.timeout(10):
                await over.cancelled.wait()
    (root,) = collector.named("scaar.v1.OrchestratorService/StreamAnswer")
    assert attributes(root)["scaar.end"] == "cancelled"
    assert attributes(root)["rpc.grpc.status_code"] == grpc.StatusCode.CANCELLED.value[0]
    assert [span.parent_span_id for span in collector.named("draft")] == [root.span_id]
    (generation,) = generations(collector)
    assert generation.status.code == Status.STATUS_CODE_UNSET
    assert "gen_ai.response.finish_reasons" not in attributes(generation)


async def test_health_has_no_span(collector: Collector) -> None:
    async with watched_services(ports(), traced(collector)) as services:
        await wait_until_serving(services.target, "scaar.v1.OrchestratorService")
    assert not collector.spans


async def test_an_unreachable_collector_loses_spans_and_fails_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Each of the five services would wait for it for as long.
    monkeypatch.setattr("scaar.telemetry.tracing._EXPORT_TIMEOUT_S", 0.2)
    stream = io.StringIO()
    settings = ServiceSettings(otlp_endpoint="http://127.0.0.1:1", stop_grace_s=0)
    with logging_to(settings, service="all", stream=stream):
        await answer(settings, CallContext())
    assert "Failed to export" in stream.getvalue()


async def test_an_invalid_endpoint_is_rejected() -> None:
    settings = ServiceSettings(otlp_endpoint="collector:4317")
    reported = "otlp_endpoint: must be http://host:port or https://host:port, not 'collector:4317'"
    with pytest.raises(InvalidRequest, match=reported):
        async with open_telemetry(settings, service="scorer"):
            pass


async def test_without_the_extra_the_error_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exporter = "opentelemetry.exporter.otlp.proto.grpc.trace_exporter"
    monkeypatch.setitem(sys.modules, exporter, None)
    for name in ("answer_spans", "tracing"):
        monkeypatch.delitem(sys.modules, f"scaar.telemetry.{name}", raising=False)
    settings = ServiceSettings(otlp_endpoint="http://127.0.0.1:1")
    reported = r"^otlp_endpoint requires opentelemetry[a-z._]*: install scaar\[telemetry\]$"
    with pytest.raises(CapabilityMissing, match=reported):
        async with open_telemetry(settings, service="scorer"):
            pass
