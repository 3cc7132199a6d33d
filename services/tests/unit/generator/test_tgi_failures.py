"""What a TGI server suffers becomes the right condition in time, and leaves nothing running."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from scaar.core.errors import (
    BackendUnavailable,
    DeadlineExceeded,
    Overloaded,
    ScaarError,
    StreamIncomplete,
)
from scaar.core.loop.budget import deadline_in
from scaar.core.types import GenerateRequest, GenerationEvent, Token
from scaar.generator.engines.tgi import open_tgi_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab_servers.tgi import open_tgi_server
from scaar.lab_servers.tgi_failures import Failure
from scaar.testing.closing_relay import closing_relay
from scaar.testing.sockets import TRANSPORTS

from .tgi_servers import PROMPT, Opened, end_of, opened, text_of, tokens_of, write

pytestmark = pytest.mark.slow

IMPATIENT: dict[str, Any] = {"read_timeout_s": 0.3}
BEFORE_THE_FIRST_TOKEN = (
    (Failure.OVERLOAD, Overloaded),
    (Failure.UNAVAILABLE, BackendUnavailable),
    (Failure.GARBAGE, BackendUnavailable),
    (Failure.SLOW, DeadlineExceeded),
)
IN_MID_STREAM = (
    (Failure.TRUNCATED, StreamIncomplete),
    (Failure.RESET, StreamIncomplete),
    (Failure.INCOMPLETE, StreamIncomplete),
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
    async with opened(kind, transport=transport, **IMPATIENT) as both:
        error, seen = await failed(both)
        assert type(error) is condition
        assert seen == []


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(("kind", "condition"), IN_MID_STREAM)
async def test_a_failure_within_a_stream_follows_the_tokens_before_it(
    transport: str, kind: Failure, condition: type[ScaarError]
) -> None:
    async with opened(transport=transport) as both:
        whole = tokens_of(await write(both.generator))
        both.server.failures.inject(kind)
        error, seen = await failed(both)
        assert type(error) is condition
        read = tokens_of(seen)
        # A reset discards what the client has not read by then.
        assert read == whole[: len(read) if kind is Failure.RESET else 3]
        both.server.failures.clear()
        assert tokens_of(await write(both.generator)) == whole


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_an_unknown_finish_reason_is_an_error(
    transport: str,
) -> None:
    async with opened(Failure.UNKNOWN_FINISH, transport=transport) as both:
        error, seen = await failed(both)
        assert type(error) is StreamIncomplete
        assert len(tokens_of(seen)) == 11


# --- what is tried again ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Failure.OVERLOAD, Failure.UNAVAILABLE])
async def test_a_generation_is_retried_before_its_first_token(kind: Failure) -> None:
    async with opened() as both:
        whole = await write(both.generator)
        both.server.failures.inject(kind, 2)
        assert await write(both.generator) == whole
        assert both.pauses == sorted(both.pauses)
        assert len(both.pauses) == 2


async def test_there_are_at_most_three_attempts() -> None:
    async with opened() as both:
        both.server.failures.inject(Failure.UNAVAILABLE, 3)
        await failed(both)
        assert len(both.pauses) == 2
        assert text_of(await write(both.generator))


@pytest.mark.parametrize("kind", [kind for kind, _ in IN_MID_STREAM])
async def test_nothing_is_retried_after_the_first_token(kind: Failure) -> None:
    async with opened() as both:
        both.server.failures.inject(kind, 1)
        await failed(both)
        assert len(both.server.generations.accepted) == 1
        assert both.pauses == []


async def test_nothing_is_retried_that_would_miss_the_deadline() -> None:
    async with opened(Failure.OVERLOAD) as both:
        with deadline_in(0.9):  # less than an overloaded server wants to be left alone
            error, _ = await failed(both)
        assert type(error) is Overloaded
        assert both.pauses == []


# --- time ---------------------------------------------------------------------------------------


async def test_a_call_ends_at_its_own_deadline_if_that_is_sooner() -> None:
    async with opened(Failure.SLOW) as both:
        with deadline_in(0.3):
            error, _ = await failed(both)
        assert type(error) is DeadlineExceeded
        assert "the deadline passed" in error.message


async def test_a_connection_that_is_only_kept_alive_is_silent() -> None:
    async with opened(Failure.SLOW, server={"keep_alive_s": 0.02}, **IMPATIENT) as both:
        error, _ = await failed(both)
        assert type(error) is DeadlineExceeded
        assert "sent nothing for 0.3 s" in error.message


async def test_the_total_time_of_an_active_stream_is_not_limited() -> None:
    async with opened(
        Failure.SLOW, server={"keep_alive_s": 0.02, "slow_s": 0.2}, read_timeout_s=1.5
    ) as both:
        assert len(tokens_of(await write(both.generator, max_tokens=10))) == 10


# --- what bends and does not break ------------------------------------------------------------


async def test_missing_log_probabilities_are_missing() -> None:
    async with opened(Failure.NULL_LOGPROBS) as both:
        tokens = tokens_of(await write(both.generator))
        assert len(tokens) == 12
        assert {token.logprob for token in tokens} == {None}


async def test_a_mark_of_other_servers_after_the_end_is_passed_over() -> None:
    async with opened() as both:
        whole = await write(both.generator)
        both.server.failures.inject(Failure.DONE)
        assert await write(both.generator) == whole


async def test_a_split_character_is_returned_with_its_last_part() -> None:
    async with opened() as both:
        whole = tokens_of(await write(both.generator))
        both.server.failures.inject(Failure.SPLIT_CHARACTERS)
        parts = tokens_of(await write(both.generator, max_tokens=24))
        assert [token.text for token in parts[1::2]] == [token.text for token in whole]
        for first, second in zip(parts[::2], parts[1::2], strict=True):
            assert (first.text, first.start, first.end) == ("", second.start, second.start)


async def test_a_character_that_stays_in_parts_is_the_end_of_the_text() -> None:
    async with opened(Failure.SPLIT_CHARACTERS) as both:
        events = await write(both.generator, max_tokens=5)
        assert end_of(events).generated_tokens == len(tokens_of(events)) == 5
        last = tokens_of(events)[-1]
        assert (last.text, last.end - last.start) == ("\N{REPLACEMENT CHARACTER}", 1)


# --- leaving early ------------------------------------------------------------------------------


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_stream_that_is_closed_stops_the_server(transport: str) -> None:
    async with opened(transport=transport) as both:
        request = GenerateRequest(PROMPT, max_tokens=1024)
        async with aclosing(both.generator.generate(request)) as events:
            async for event in events:
                if isinstance(event, Token):
                    break
        await both.idle()
        assert both.server.generations.succeeded == 0


async def test_a_reader_that_is_cancelled_stops_a_server_that_is_silent() -> None:
    async with opened(Failure.SLOW, server={"slow_s": 3600.0}) as both:
        reader = asyncio.create_task(write(both.generator))
        async with asyncio.timeout(10):
            await both.server.generations.until_busy()
        reader.cancel()
        await asyncio.wait([reader])
        await both.idle()
        assert reader.cancelled()


# --- connections --------------------------------------------------------------------------------


async def test_a_connection_that_the_server_closes_fails_no_call() -> None:
    async with (
        open_tgi_server() as server,
        closing_relay(server.url, drops=True) as relay,
        open_tgi_generator(GeneratorSettings(engine="tgi", url=relay.url)) as generator,
    ):
        whole = await write(generator)
        for _ in range(5):
            await generator.describe_model()
            assert await write(generator) == whole
        assert relay.dropped > 0
