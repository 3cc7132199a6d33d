"""What holds for every call, shown on the generator: errors, cancellation, deadlines."""

import asyncio
import gc
import itertools
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import grpc
import pytest

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
    ScaarError,
    StreamIncomplete,
    Violation,
)
from scaar.core.types import AttendRequest, GenerateRequest, Passage, Token
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.settings import ServiceSettings
from scaar.testing.fakes import InMemoryRetriever, ScriptedGenerator
from scaar.testing.sockets import serving
from scaar.v1 import generator_pb2
from scaar.wire.generator import GeneratorServicer, RemoteGenerator
from scaar.wire.retriever import RemoteRetriever, RetrieverServicer
from scaar.wire.scorer import RemoteScorer

REQUEST = GenerateRequest("a")


def endless(delay_s: float = 0.001) -> ScriptedGenerator:
    return ScriptedGenerator(lambda request: itertools.repeat((" x", -0.1)), delay_s=delay_s)


def failing(error: Exception) -> ScriptedGenerator:
    return ScriptedGenerator(lambda request: [(" x", -0.1), error])


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)


async def drain(generator: RemoteGenerator, max_tokens: int = 10_000) -> None:
    async with aclosing(generator.generate(GenerateRequest("a", max_tokens=max_tokens))) as events:
        async for _ in events:
            pass


@pytest.mark.parametrize(
    "error",
    [
        InvalidRequest((Violation("prompt", "zu lang 🙂"), Violation("stop", "must be words"))),
        NotFound("there is no model 'x'", model="x"),
        CapabilityMissing("no attention", missing="attention"),
        Overloaded("no room", retry_after_s=0.5),
        DeadlineExceeded("too late", stage="drafting sentence 1"),
        BackendUnavailable("the server behind does not answer", target="tgi:80"),
        BackendUnavailable("the server behind is not asked", retry_after_s=0.0, target="tgi:80"),
        StreamIncomplete("cut off"),
        ScaarError("something"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_an_engines_error_reaches_the_client_unchanged(error: ScaarError) -> None:
    async with serving(GeneratorServicer(failing(error))) as (channel, target):
        with pytest.raises(type(error)) as caught:
            await drain(RemoteGenerator(channel, target))
    assert type(caught.value) is type(error)
    assert str(caught.value) == str(error)
    assert caught.value.metadata == error.metadata
    assert getattr(caught.value, "violations", None) == getattr(error, "violations", None)
    assert getattr(caught.value, "retry_after_s", None) == getattr(error, "retry_after_s", None)


async def test_an_unexpected_exception_is_internal_without_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving(GeneratorServicer(failing(ValueError("the secret")))) as (channel, target):
        with caplog.at_level(logging.ERROR), pytest.raises(ScaarError) as caught:
            await drain(RemoteGenerator(channel, target))
    cause = caught.value.__cause__
    assert isinstance(cause, grpc.aio.AioRpcError)
    assert cause.code() is grpc.StatusCode.INTERNAL
    reported = f"{cause.details()} {cause.trailing_metadata()} {caught.value}"
    assert "secret" not in reported
    assert "ValueError" not in reported
    (record,) = (each for each in caplog.records if each.name == "scaar.runtime.interceptors")
    assert "scaar.v1.GeneratorService/Generate" in record.getMessage()
    assert "the secret" in str(record.exc_info)


async def test_invalid_bytes_are_refused_as_a_message() -> None:
    async with serving(GeneratorServicer(endless())) as (channel, _):
        call: Any = channel.unary_unary("/scaar.v1.GeneratorService/Attend")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(b"\xff\xff\xff")
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_leaving_a_stream_stops_the_engine() -> None:
    engine = endless()
    async with serving(GeneratorServicer(engine)) as (channel, target):
        generator = RemoteGenerator(channel, target)
        async with aclosing(generator.generate(GenerateRequest("a", max_tokens=10_000))) as events:
            async for event in events:
                if isinstance(event, Token):
                    break
        await until(lambda: engine.closed == 1)
    assert engine.opened == 1


async def test_cancelling_a_task_that_reads_a_stream_stops_the_engine() -> None:
    engine = endless()
    async with serving(GeneratorServicer(engine)) as (channel, target):
        task = asyncio.create_task(drain(RemoteGenerator(channel, target)))
        await until(lambda: engine.opened == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: engine.closed == 1)


async def test_a_client_that_does_not_read_holds_up_the_engine_and_not_its_end() -> None:
    text = "x" * 100_000
    engine = ScriptedGenerator(lambda request: itertools.repeat((text, -0.1)))
    async with serving(GeneratorServicer(engine)) as (channel, target):
        generator = RemoteGenerator(channel, target)
        async with aclosing(generator.generate(GenerateRequest("a", max_tokens=10_000))) as events:
            await anext(events)
            await asyncio.sleep(0.2)
            assert engine.closed == 0
        await until(lambda: engine.closed == 1)


async def test_cancelling_a_unary_call_cancels_the_engine() -> None:
    ended = asyncio.Event()

    class Slow(ScriptedGenerator):
        async def attend(self, request: AttendRequest):  # type: ignore[no-untyped-def]
            self.opened += 1
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()

    engine = Slow({})
    async with serving(GeneratorServicer(engine)) as (channel, target):
        attend = RemoteGenerator(channel, target).attend(AttendRequest("a", "b"))
        task = asyncio.create_task(attend)
        await until(lambda: engine.opened == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(5):
            await ended.wait()


async def test_a_call_has_no_more_time_than_its_cap() -> None:
    engine = endless(delay_s=0.05)
    async with serving(GeneratorServicer(engine)) as (channel, target):
        with pytest.raises(DeadlineExceeded) as caught:
            await drain(RemoteGenerator(channel, target, timeout_s=0.3))
        await until(lambda: engine.closed == 1)
    assert caught.value.message == f"{target} did not answer in time"


async def test_a_call_without_a_deadline_is_bounded_by_the_server() -> None:
    engine = endless(delay_s=0.05)
    settings = ServiceSettings(max_call_s=0.3, stop_grace_s=0)
    async with serving(GeneratorServicer(engine), settings) as (channel, _):
        call: Any = channel.unary_stream(
            "/scaar.v1.GeneratorService/Generate",
            request_serializer=generator_pb2.GenerateRequest.SerializeToString,
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            async for _ in call(generator_pb2.GenerateRequest(prompt="a", max_tokens=10_000)):
                pass
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert caught.value.details() == "the call exceeded its time limit of 0.3 s"
    assert engine.closed == 1


async def test_an_abandoned_stream_is_freed_immediately() -> None:
    """Its connection too: that ends with the last call which is not freed."""

    def streams() -> int:
        return sum(isinstance(each, grpc.aio.UnaryStreamCall) for each in gc.get_objects())

    gc.collect()
    gc.disable()
    # Frozen objects are not listed: a list of all takes long.
    gc.freeze()
    try:
        before = streams()
        async with serving(GeneratorServicer(endless())) as (channel, target):
            events = RemoteGenerator(channel, target).generate(REQUEST)
            await anext(events)
            assert streams() == before + 1
            await events.aclose()
            await until(lambda: streams() == before)
    finally:
        gc.unfreeze()
        gc.enable()


async def test_a_stream_without_its_end_is_incomplete() -> None:
    class Cut(ScriptedGenerator):
        async def generate(self, request: GenerateRequest):  # type: ignore[no-untyped-def]
            yield Token(1, "x", 0, 1)

    async with serving(GeneratorServicer(Cut({}))) as (channel, target):
        with pytest.raises(StreamIncomplete):
            await drain(RemoteGenerator(channel, target))


async def test_a_target_that_cannot_be_reached_is_named() -> None:
    target = "dns:///127.0.0.1:1"
    async with open_channel(target) as channel:
        for call in (
            RemoteGenerator(channel, target).describe_model(),
            drain(RemoteGenerator(channel, target)),
            RemoteScorer(channel, target).describe_model(),
        ):
            with pytest.raises(BackendUnavailable, match=re.escape(target)) as caught:
                await call
            assert caught.value.metadata == {"target": target}


async def test_a_target_that_accepts_and_stays_silent_times_out() -> None:
    """As one that is just stopping may do; by default it would be waited for 20 s."""
    opened: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(lambda _, writer: opened.append(writer), "127.0.0.1", 0)
    host, port = silent.sockets[0].getsockname()[:2]
    try:
        async with asyncio.timeout(15), open_channel(f"{host}:{port}") as channel:
            with pytest.raises(BackendUnavailable, match="does not answer"):
                await RemoteGenerator(channel, "silent").describe_model()
    finally:
        silent.close()
        for writer in opened:
            writer.close()
    assert opened


async def test_a_target_that_serves_something_else_is_reported() -> None:
    async with serving(GeneratorServicer(endless())) as (channel, target):
        with pytest.raises(CapabilityMissing, match="does not serve this call"):
            await RemoteScorer(channel, target).describe_model()


async def test_an_unavailable_backend_is_tried_again_before_the_first_message() -> None:
    class Waking(ScriptedGenerator):
        async def describe_model(self):  # type: ignore[no-untyped-def]
            self.opened += 1
            if self.opened < 3:
                raise BackendUnavailable("not yet")
            return await super().describe_model()

    engine = Waking({})
    async with (
        serving(GeneratorServicer(engine)) as (_, target),
        open_channel(target, settings=ChannelSettings(attempts=3)) as channel,
    ):
        assert (await RemoteGenerator(channel, target).describe_model()).model == "scripted"
    assert engine.opened == 3


async def test_a_started_generation_is_not_retried() -> None:
    engine = failing(BackendUnavailable("gone"))
    async with (
        serving(GeneratorServicer(engine)) as (_, target),
        open_channel(target, settings=ChannelSettings(attempts=3)) as channel,
    ):
        with pytest.raises(BackendUnavailable, match="gone"):
            await drain(RemoteGenerator(channel, target))
    assert engine.opened == 1


async def test_indexing_that_is_cancelled_leaves_no_index() -> None:
    retriever = InMemoryRetriever()
    sent = asyncio.Event()

    async def slow() -> AsyncIterator[Passage]:
        yield Passage("p1", "", "text")
        sent.set()
        await asyncio.sleep(60)

    async with serving(RetrieverServicer(retriever)) as (channel, target):
        indexing = RemoteRetriever(channel, target).index_passages("cities", slow())
        task = asyncio.create_task(indexing)
        await sent.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await retriever.list_indexes() == ()


async def test_indexing_rejected_midway_reports_the_reason() -> None:
    async def many_passages() -> AsyncIterator[Passage]:
        for number in range(4_000):
            yield Passage(f"p{number % 1000}", "", "word " * 100)

    async with serving(RetrieverServicer(InMemoryRetriever())) as (channel, target):
        with pytest.raises(InvalidRequest, match="was seen before"):
            await RemoteRetriever(channel, target).index_passages("cities", many_passages())
