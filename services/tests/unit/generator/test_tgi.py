"""The TGI engine beyond its suite: limits, lengths, the model's description, usage."""

import socket
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
    PromptTooLong,
)
from scaar.core.types import (
    AttendRequest,
    Capability,
    FinishReason,
    GenerateRequest,
    GenerationStart,
    LogprobKind,
)
from scaar.generator.engines.onnx import open_onnx_generator
from scaar.generator.engines.tgi import open_tgi_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab_servers.tgi import open_tgi_server
from scaar.lab_servers.tgi_failures import Failure

from .tgi_servers import PROMPT, end_of, opened, text_of, tokens_of, write


async def pauseless(seconds: float) -> None:
    """In place of a pause."""


def settings(url: str, **fields: Any) -> GeneratorSettings:
    return GeneratorSettings(**{"engine": "tgi", "url": url, "prompt_profile": "lab", **fields})


@pytest.mark.parametrize("fields", [{}, {"max_tokens": 200}, {"stop": ("\n", " was")}])
async def test_it_returns_the_same_as_the_embedded_engine(fields: dict[str, Any]) -> None:
    embedded = GeneratorSettings(model=str(model_folder(LAB_LM)))
    async with opened() as both, open_onnx_generator(embedded) as engine:
        served, expected = await write(both.generator, **fields), await write(engine, **fields)
        assert served[0] == expected[0]
        assert [(t.id, t.text, t.start, t.end) for t in tokens_of(served)] == [
            (t.id, t.text, t.start, t.end) for t in tokens_of(expected)
        ]
        assert [t.logprob for t in tokens_of(served)] == pytest.approx(
            [t.logprob for t in tokens_of(expected)], abs=1e-6
        )
        assert end_of(served) == end_of(expected)


async def test_the_requested_number_of_alternatives_is_returned() -> None:
    async with opened() as both:
        for token in tokens_of(await write(both.generator, top_tokens=5)):
            assert len(token.top) == 5
            assert (token.top[0].id, token.top[0].text) == (token.id, token.text)
            assert token.top[0].logprob == pytest.approx(token.logprob)


async def test_more_alternatives_than_the_server_gives_are_rejected_with_the_limit() -> None:
    async with opened() as both:
        with pytest.raises(InvalidRequest, match="top_tokens: must be 0 to 5, not 6"):
            await write(both.generator, top_tokens=6)
        assert both.server.generations.accepted == []


# --- what the server is asked for -------------------------------------------------------------


async def test_prompt_and_prefix_are_one_text_and_decoding_is_greedy() -> None:
    async with opened() as both:
        await write(both.generator, prefix=" The film", stop=("x",))
        (requested,) = both.server.generations.accepted
        assert requested.inputs == f"{PROMPT} The film"
        assert (requested.max_new_tokens, requested.stop, requested.details) == (12, (), True)


async def test_a_generation_has_the_room_that_is_left() -> None:
    async with opened(server={"max_total_tokens": 22}) as both:
        events = await write(both.generator, max_tokens=1024)
        end = end_of(events)
        assert end.prompt_tokens + end.generated_tokens == 22
        assert end.finish_reason is FinishReason.LENGTH


@pytest.mark.parametrize("words", [40, 10_000, 500_000])
async def test_a_prompt_that_leaves_no_room_is_refused(words: int) -> None:
    async with opened(server={"max_total_tokens": 40}) as both:
        with pytest.raises(PromptTooLong, match="prompt: ") as caught:
            await write(both.generator, prompt=" film" * words)
        assert [each.field for each in caught.value.violations] == ["prompt"]
        assert both.pauses == []


async def test_generations_above_the_limit_are_rejected_before_any_request() -> None:
    async with opened(server={"max_concurrent_requests": 3}) as both, AsyncExitStack() as stack:
        for _ in range(2):
            events = both.generator.generate(GenerateRequest(PROMPT, max_tokens=1024))
            await stack.enter_async_context(aclosing(events))
            await anext(events)
        with pytest.raises(Overloaded, match="the limit of 2 concurrent generations is reached"):
            await write(both.generator)
        assert (await both.generator.describe_model()).max_concurrent_generations == 2
        assert len(both.server.generations.accepted) == 2
        await stack.aclose()
        assert text_of(await write(both.generator))


# --- usage ----------------------------------------------------------------------------------------


async def test_a_cancelled_generation_has_reported_its_prompt_tokens() -> None:
    async with opened() as both:
        prompt_tokens = end_of(await write(both.generator)).prompt_tokens
        async with aclosing(both.generator.generate(GenerateRequest(PROMPT))) as events:
            assert await anext(events) == GenerationStart(prompt_tokens)


async def test_usage_counts_the_tokens_before_a_stop_string() -> None:
    async with opened() as both:
        whole = await write(both.generator)
        stopped = await write(both.generator, stop=(tokens_of(whole)[4].text,))
        assert end_of(stopped).finish_reason is FinishReason.STOP
        assert end_of(stopped).prompt_tokens == end_of(whole).prompt_tokens
        assert end_of(stopped).generated_tokens == 5


async def test_a_server_that_counts_no_tokens_is_generated_by_all_the_same() -> None:
    async with opened(Failure.UNCOUNTED, server={"max_total_tokens": 22}) as both:
        plain = await write(both.generator, max_tokens=8)
        assert not isinstance(plain[0], GenerationStart)
        assert end_of(plain).prompt_tokens == 14
        stopped = await write(both.generator, max_tokens=8, stop=(tokens_of(plain)[4].text,))
        assert end_of(stopped).prompt_tokens == 0
        with pytest.raises(PromptTooLong, match=r"prompt: was rejected by .* must be <= 22"):
            await write(both.generator, max_tokens=9)
        assert both.pauses == []


# --- the model's description ------------------------------------------------------------------


async def test_the_description_has_the_servers_model_and_capabilities() -> None:
    async with opened(prompt_profile="lab") as both:
        model = await both.generator.describe_model()
        assert (model.model, model.engine, model.prompt_profile) == (LAB_LM, "tgi", "lab")
        assert model.logprob_kind is LogprobKind.RAW
        assert model.capabilities == {
            Capability.LOGPROBS,
            Capability.SAMPLING,
            Capability.SEED,
            Capability.TEXT_LOGPROBS,
        }
        assert model.max_total_tokens == 8192
        with pytest.raises(CapabilityMissing, match="attention"):
            await both.generator.attend(AttendRequest(PROMPT, " a text"))


async def test_another_model_is_seen_after_a_failure() -> None:
    async with opened() as both:
        before = await both.generator.describe_model()
        both.server.failures.inject(Failure.MODEL_CHANGED, 1)
        both.server.failures.inject(Failure.TRUNCATED, 1)
        assert await both.generator.describe_model() == before
        with pytest.raises(Exception, match="before its end"):
            await write(both.generator)
        after = await both.generator.describe_model()
        assert after.revision == f"{before.revision}-1"


async def test_another_model_than_the_one_named_is_refused_at_the_start() -> None:
    async with opened(model=LAB_LM) as both:
        with pytest.raises(NotFound, match=f"serves {LAB_LM}, not org/other"):
            async with open_tgi_generator(settings(both.server.url, model="org/other")):
                pass


# --- servers that are none ----------------------------------------------------------------------


async def test_an_unreachable_server_is_reported_at_the_start() -> None:
    pauses = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(BackendUnavailable, match="does not answer: Connection refused"):
        async with open_tgi_generator(settings(url), sleep=sleep):
            pass
    assert pauses == [0.1, 0.2]


async def test_a_server_that_accepts_and_stays_silent_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(DeadlineExceeded, match=r"sent nothing for 0\.2 s"):
            async with open_tgi_generator(settings(url, read_timeout_s=0.2)):
                pass


async def test_a_stopped_server_is_reported_by_the_next_generation() -> None:
    async with AsyncExitStack() as servers:
        server = await servers.enter_async_context(open_tgi_server())
        async with open_tgi_generator(settings(server.url), sleep=pauseless) as engine:
            assert text_of(await write(engine))
            await servers.aclose()
            with pytest.raises(BackendUnavailable, match="does not answer"):
                await write(engine)
