"""What a server of OpenAI's interface suffers becomes the right condition, in time."""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
    PromptTooLong,
    ScaarError,
    StreamIncomplete,
)
from scaar.core.loop.budget import deadline_in
from scaar.core.types import FinishReason, GenerateRequest, GenerationEvent, Token
from scaar.generator.engines.openai import open_openai_generator
from scaar.lab_servers.openai import open_openai_server
from scaar.lab_servers.openai_failures import Failure
from scaar.lab_servers.openai_wire import REPRODUCED
from scaar.testing.closing_relay import closing_relay
from scaar.testing.sockets import TRANSPORTS

from .openai_servers import (
    PROMPT,
    Opened,
    end_of,
    opened,
    settings_of,
    text_of,
    tokens_of,
    write,
)

pytestmark = pytest.mark.slow

BEFORE_THE_FIRST_TOKEN = (
    (Failure.OVERLOAD, Overloaded),
    (Failure.UNAVAILABLE, BackendUnavailable),
    (Failure.INTERNAL, BackendUnavailable),
    (Failure.GARBAGE, BackendUnavailable),
    (Failure.SLOW, DeadlineExceeded),
)
IN_MID_STREAM = (
    (Failure.TRUNCATED, StreamIncomplete),
    (Failure.RESET, StreamIncomplete),
    (Failure.GARBLED_EVENT, StreamIncomplete),
    (Failure.ERROR_EVENT, BackendUnavailable),
)


async def failed(both: Opened, **fields: Any) -> tuple[ScaarError, list[GenerationEvent]]:
    """The condition that a generation ended with, and the events before it."""
    seen: list[GenerationEvent] = []
    with pytest.raises(ScaarError) as caught:
        await write(both.generator, into=seen, **fields)
    return caught.value, seen


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(("kind", "condition"), BEFORE_THE_FIRST_TOKEN)
async def test_a_failure_before_the_first_token_yields_no_token(
    transport: str, kind: Failure, condition: type[ScaarError]
) -> None:
    async with opened(
        fail=[kind], transport=transport, server={"slow_s": 3600.0}, read_timeout_s=2.0
    ) as both:
        error, seen = await failed(both)
        assert type(error) is condition
        assert seen == []


@pytest.mark.parametrize("dialect", REPRODUCED)
@pytest.mark.parametrize("openai_api", ["completions", "chat"])
@pytest.mark.parametrize(("kind", "condition"), IN_MID_STREAM)
async def test_a_failure_within_a_stream_follows_the_tokens_before_it(
    dialect: str, openai_api: str, kind: Failure, condition: type[ScaarError]
) -> None:
    async with opened(dialect, openai_api=openai_api) as both:
        whole = tokens_of(await write(both.generator))
        both.server.failures.inject(kind)
        error, seen = await failed(both)
        assert type(error) is condition
        assert 2 <= len(tokens_of(seen)) <= 3
        assert tokens_of(seen) == whole[: len(tokens_of(seen))]
        both.server.failures.clear()
        assert tokens_of(await write(both.generator)) == whole


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_an_unknown_finish_reason_is_an_error(
    transport: str,
) -> None:
    async with opened(fail=[Failure.UNKNOWN_FINISH], transport=transport) as both:
        error, _ = await failed(both)
        assert type(error) is StreamIncomplete
        assert "whim" in error.message


# --- what is tried again ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind, _ in BEFORE_THE_FIRST_TOKEN][:-1])
async def test_a_generation_is_retried_before_its_first_token(kind: Failure) -> None:
    async with opened() as both:
        whole = await write(both.generator)
        both.server.failures.inject(kind, 2)
        assert await write(both.generator) == whole
        assert len(both.pauses) == 2


async def test_there_are_at_most_three_attempts_and_the_client_adds_none() -> None:
    async with opened(fail=[Failure.UNAVAILABLE]) as both:
        before = both.server.generations.requests
        await failed(both)
        assert both.server.generations.requests - before == 3


@pytest.mark.parametrize("kind", [kind for kind, _ in IN_MID_STREAM])
async def test_nothing_is_retried_after_the_first_token(kind: Failure) -> None:
    async with opened(fail=[kind]) as both:
        await failed(both)
        assert len(both.server.generations.accepted) == 1
        assert both.pauses == []


async def test_nothing_is_retried_that_would_miss_the_deadline() -> None:
    async with opened(fail=[Failure.OVERLOAD]) as both:
        with deadline_in(1.9):  # less than an overloaded server wants to be left alone
            error, _ = await failed(both)
        assert isinstance(error, Overloaded)
        assert error.retry_after_s == 2.0
        assert both.pauses == []


# --- room -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("openai_api", ["completions", "chat"])
@pytest.mark.parametrize("dialect", REPRODUCED)
async def test_a_text_ends_where_the_context_does(dialect: str, openai_api: str) -> None:
    room = {"max_total_tokens": 24}
    async with opened(dialect, server=room, openai_api=openai_api) as both:
        end = end_of(await write(both.generator, max_tokens=100))
        assert end.finish_reason is FinishReason.LENGTH
        assert end.prompt_tokens + end.generated_tokens == 24


@pytest.mark.parametrize("openai_api", ["completions", "chat"])
@pytest.mark.parametrize("dialect", REPRODUCED)
async def test_a_prompt_that_leaves_no_room_is_too_long(dialect: str, openai_api: str) -> None:
    room = {"max_total_tokens": 24}
    async with opened(dialect, server=room, openai_api=openai_api) as both:
        error, _ = await failed(both, prompt=PROMPT * 2)
        assert isinstance(error, PromptTooLong)
        assert [each.field for each in error.violations] == ["prompt"]
        assert error.violations[0].description.endswith("of the model, 24 tokens: it has 27")


async def test_generations_above_the_limit_are_rejected() -> None:
    async with opened(fail=[Failure.SLOW], server={"slow_s": 3600.0}, max_concurrent=1) as both:
        one = asyncio.create_task(write(both.generator))
        await both.server.generations.until_busy()
        error, _ = await failed(both)
        assert isinstance(error, Overloaded)
        one.cancel()
        await asyncio.wait([one])
        await both.idle()


async def test_more_likely_tokens_than_the_server_gives_are_refused_with_the_limit() -> None:
    async with opened("openai") as both:
        with pytest.raises(InvalidRequest, match="top_tokens: must be 0 to 5, not 6"):
            await write(both.generator, top_tokens=6)
    async with opened("openai", openai_api="chat") as both:
        assert len(tokens_of(await write(both.generator, top_tokens=6))[0].top) == 6


# --- what is not there ----------------------------------------------------------------------------


async def opening(url: str, **settings: Any) -> ScaarError:
    """The condition that opening the engine ends with."""
    with pytest.raises(ScaarError) as caught:
        async with open_openai_generator(settings_of(url, **settings), sleep=pauseless):
            pass
    return caught.value


async def pauseless(seconds: float) -> None: ...


async def test_an_unreachable_server_is_named() -> None:
    async with open_openai_server() as server:
        pass
    error = await opening(server.url)
    assert type(error) is BackendUnavailable
    assert error.message == f"the model server at {server.url} does not answer"


async def test_an_unknown_model_is_reported_with_the_served_models() -> None:
    async with open_openai_server() as server:
        error = await opening(server.url, model="gpt-9")
        assert type(error) is NotFound
        assert "no model gpt-9" in error.message
        assert "set SCAAR_GENERATOR_MODEL to one of: lab-lm" in error.message


async def test_llama_cpp_serves_its_model_by_any_name() -> None:
    async with opened("llama_cpp", model="whatever") as both:
        assert (await both.generator.describe_model()).model == "lab-lm"
        assert text_of(await write(both.generator))


LISTED = '{"object": "list", "data": [{"id": "m", "owned_by": "vllm"}]}'


@asynccontextmanager
async def serving(
    status: int, body: Any, *, listed: str = LISTED, **headers: str
) -> AsyncIterator[str]:
    """A server that lists a model and answers every generation so; its base URL."""

    async def models(_: web.Request) -> web.Response:
        content_type = "text/html" if listed.startswith("<") else "application/json"
        return web.Response(text=listed, content_type=content_type)

    async def answer(_: web.Request) -> web.Response:
        return web.json_response(body, status=status, headers=headers)

    app = web.Application()
    app.router.add_get("/v1/models", models)
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("status", "body", "condition"),
    [
        (400, {"error": {"message": "bad", "code": "invalid_value"}}, InvalidRequest),
        (400, {"error": {"message": "the context length is 8"}}, PromptTooLong),
        (
            400,
            {"error": {"message": "too long", "type": "exceed_context_size_error"}},
            PromptTooLong,
        ),
        (413, {"error": {"message": "large"}}, PromptTooLong),
        (422, {"detail": [{"loc": ["body"]}]}, InvalidRequest),
        (401, {"error": {"message": "no"}}, CapabilityMissing),
        (403, {"error": {"message": "no"}}, CapabilityMissing),
        (404, {"detail": "Not Found"}, NotFound),
        (405, {"detail": "Method Not Allowed"}, CapabilityMissing),
        (408, {}, DeadlineExceeded),
        (500, {"error": {"message": "CUDA error"}}, BackendUnavailable),
        (502, "<html>", BackendUnavailable),
        (418, 7, BackendUnavailable),
    ],
)
async def test_a_status_is_a_condition_that_quotes_nothing(
    status: int, body: Any, condition: type[ScaarError]
) -> None:
    async with serving(status, body) as url:
        error = await opening(url)
    assert isinstance(error, condition)
    for message_text in ("bad", "too long", "large", "CUDA", "Not Found", "html"):
        assert message_text not in error.message


@pytest.mark.parametrize(
    "listed",
    ["<html>", "{", "null", "7", "[]", "{}", '{"data": null}', '{"data": [7]}', '{"data": [{}]}'],
)
async def test_an_invalid_list_of_models_is_reported(listed: str) -> None:
    async with serving(200, {}, listed=listed) as url:
        error = await opening(url)
    assert type(error) is BackendUnavailable


async def test_the_servers_error_code_and_field_are_reported() -> None:
    error = {"message": "no temperature", "code": "unsupported_value", "param": "temperature"}
    async with serving(400, {"error": error}) as url:
        found = await opening(url)
    status = "HTTP 400 (unsupported_value: temperature)"
    expected = f"the model server at {url}/v1 rejected the request with {status}"
    assert found.message == f"request: {expected}"


@pytest.mark.parametrize(
    ("status", "message", "detail"),
    [
        (400, "temperature\nis not supported", "temperature is not supported"),
        (500, "CUDA out of memory", "CUDA out of memory"),
        (404, "The model does not exist", "The model does not exist"),
        (429, "rate limit", "rate limit"),
        (500, "x" * 1_000, f"{'x' * 300}…"),
        (401, "Incorrect key: sk-1234", ""),
        (502, "<html>", ""),
    ],
)
async def test_the_servers_own_text_is_a_detail_for_this_terminal_and_the_log(
    status: int, message: str, detail: str
) -> None:
    async with serving(status, {"error": {"message": message}}) as url:
        error = await opening(url)
    assert error.detail == detail
    assert not detail or detail not in error.message
    assert "sk-1234" not in str(error)


@pytest.mark.parametrize(
    ("message_text", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("nan", 1.0),
        ("soon", 1.0),
        ("1e9", 3600.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
async def test_the_retry_delay_is_the_servers(message_text: str, seconds: float) -> None:
    async with serving(429, {"error": {"message": "full"}}, **{"Retry-After": message_text}) as url:
        error = await opening(url)
    assert isinstance(error, Overloaded)
    assert error.retry_after_s == seconds


# --- time, and leaving early ----------------------------------------------------------------------


async def test_a_call_ends_at_its_own_deadline_if_that_is_sooner() -> None:
    async with opened(fail=[Failure.SLOW]) as both:
        with deadline_in(0.3):
            error, _ = await failed(both)
        assert type(error) is DeadlineExceeded
        assert "the deadline passed" in error.message


async def test_the_total_time_of_an_active_stream_is_not_limited() -> None:
    async with opened(fail=[Failure.SLOW], server={"slow_s": 0.3}, read_timeout_s=2.5) as both:
        assert len(tokens_of(await write(both.generator, max_tokens=10))) == 10


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("openai_api", ["completions", "chat"])
async def test_a_stream_that_is_closed_stops_the_server(transport: str, openai_api: str) -> None:
    async with opened(
        fail=[Failure.SLOW], server={"slow_s": 0.05}, transport=transport, openai_api=openai_api
    ) as both:
        request = GenerateRequest(PROMPT, max_tokens=1024)
        async with aclosing(both.generator.generate(request)) as events:
            async for event in events:
                if isinstance(event, Token):
                    break
        await both.idle()
        assert both.server.generations.ended == 0


@pytest.mark.parametrize("slow_s", [0.0, 0.05])
async def test_a_stream_that_is_closed_leaves_no_generator_to_the_garbage_collector(
    slow_s: float,
) -> None:
    started = list[AsyncGenerator[Any, None]]()
    hooks = sys.get_asyncgen_hooks()

    def first(generator: AsyncGenerator[Any, None]) -> None:
        started.append(generator)
        if hooks.firstiter is not None:
            hooks.firstiter(generator)

    async with opened(fail=[Failure.SLOW], server={"slow_s": slow_s}) as both:
        await write(both.generator, max_tokens=1)
        sys.set_asyncgen_hooks(firstiter=first)
        try:
            request = GenerateRequest(PROMPT, max_tokens=64)
            async with aclosing(both.generator.generate(request)) as events:
                async for event in events:
                    if isinstance(event, Token):
                        break
        finally:
            sys.set_asyncgen_hooks(*hooks)
        await both.idle()
        assert started
        assert [each.__qualname__ for each in started if each.ag_frame is not None] == []


async def test_a_stop_string_ends_the_servers_work() -> None:
    async with opened(server={"slow_s": 0.05}) as both:
        text = text_of(await write(both.generator, max_tokens=40))
        both.server.failures.inject(Failure.SLOW)
        stopped = await write(both.generator, max_tokens=1024, stop=(text[5:9],))
        assert text_of(stopped) == text[:5]
        await both.idle()


async def test_a_reader_that_is_cancelled_stops_a_server_that_is_silent() -> None:
    async with opened(fail=[Failure.SLOW], server={"slow_s": 3600.0}) as both:
        reader = asyncio.create_task(write(both.generator))
        async with asyncio.timeout(10):
            await both.server.generations.until_busy()
        reader.cancel()
        await asyncio.wait([reader])
        await both.idle()
        assert reader.cancelled()


# --- connections ----------------------------------------------------------------------------------


async def test_a_connection_that_the_server_closes_fails_no_call_and_takes_no_attempt() -> None:
    async with (
        open_openai_server(dialect="llama_cpp") as server,
        closing_relay(server.url, drops=True) as relay,
        open_openai_generator(settings_of(relay.url), sleep=pauseless) as generator,
    ):
        whole = await write(generator)
        for _ in range(5):
            await generator.describe_model()
            assert await write(generator) == whole
        assert relay.dropped > 0
        # Two for the probe, and one for each of the others: no attempt of its own.
        assert server.generations.requests == 7
