"""What servers of OpenAI's interface serve and say, in every dialect and in every odd way."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession, web
from openai import AsyncOpenAI

from scaar.core.errors import InvalidRequest, NotFound
from scaar.core.types import (
    Capability,
    ContinuationKind,
    FinishReason,
    GenerationStart,
    LogprobKind,
    Token,
)
from scaar.generator.engines.openai_server.chat import CONTINUE_INSTRUCTION, turns_of
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab_servers.address import listening
from scaar.lab_servers.openai import open_openai_server
from scaar.lab_servers.openai_failures import Failure
from scaar.lab_servers.openai_wire import REPRODUCED

from .openai_servers import PROMPT, REQUEST, end_of, opened, settings_of, text_of, tokens_of, write

pytestmark = pytest.mark.slow

APIS = ("completions", "chat")
ODD_AND_ALIKE = (
    Failure.MANY_TOKENS,
    Failure.EMPTY_CHUNKS,
    Failure.LATE_TEXT,
    Failure.BARE_TOKENS,
)
"""Peculiarities that must not change the tokens."""


# --- the description ------------------------------------------------------------------------------


@pytest.mark.parametrize("openai_api", APIS)
@pytest.mark.parametrize(
    ("dialect", "kind", "chat", "context"),
    [
        ("generic", LogprobKind.UNKNOWN, ContinuationKind.RESTATED, 4096),
        ("openai", LogprobKind.UNKNOWN, ContinuationKind.RESTATED, 4096),
        ("vllm", LogprobKind.RAW, ContinuationKind.NATIVE, 8192),
        ("sglang", LogprobKind.PROCESSED, ContinuationKind.NATIVE, 8192),
        ("llama_cpp", LogprobKind.RAW, ContinuationKind.NATIVE, 8192),
    ],
)
async def test_the_dialect_is_detected_from_the_server(
    dialect: str, kind: LogprobKind, chat: ContinuationKind, context: int, openai_api: str
) -> None:
    async with opened(dialect, openai_api=openai_api) as both:
        model = await both.generator.describe_model()
        assert model.logprob_kind is kind
        assert model.max_total_tokens == context
        reads = openai_api == "completions" and dialect in ("vllm", "sglang")
        assert model.capabilities == {
            Capability.LOGPROBS,
            Capability.SAMPLING,
            *([Capability.SEED] if dialect in ("vllm", "llama_cpp") else []),
            *([Capability.TEXT_LOGPROBS] if reads else []),
            *([Capability.SYSTEM_TURN] if openai_api == "chat" else []),
        }
        expected = chat if openai_api == "chat" else ContinuationKind.NATIVE
        assert model.continuation is expected
        assert model.max_concurrent_generations == 32


async def test_settings_override_the_servers_description() -> None:
    async with opened(
        "vllm", logprob_kind="processed", max_total_tokens=100, prompt_profile="lab"
    ) as both:
        model = await both.generator.describe_model()
        assert model.logprob_kind is LogprobKind.PROCESSED
        assert model.max_total_tokens == 100
        assert model.prompt_profile == "lab"


async def test_a_url_without_a_path_has_the_usual_one() -> None:
    async with (
        open_openai_server() as server,
        open_generator(settings_of(server.url.removesuffix("/v1"))) as generator,
    ):
        assert text_of(await write(generator))


@pytest.mark.parametrize("kind", [Failure.NO_LOGPROBS, Failure.REFUSED_LOGPROBS])
@pytest.mark.parametrize("openai_api", APIS)
@pytest.mark.parametrize("dialect", REPRODUCED)
async def test_a_server_without_log_probabilities_is_seen_to_have_none(
    dialect: Any, openai_api: str, kind: Failure
) -> None:
    async with (
        open_openai_server(dialect=dialect) as plain,
        open_openai_server(dialect=dialect, fail=[kind]) as server,
        open_generator(settings_of(plain.url, openai_api=openai_api)) as with_them,
        open_generator(settings_of(server.url, openai_api=openai_api)) as without,
    ):
        capabilities = (await without.describe_model()).capabilities
        assert not capabilities & {Capability.LOGPROBS, Capability.TEXT_LOGPROBS}
        whole, bare = await write(with_them), await write(without)
        assert text_of(bare) == text_of(whole)
        assert {token.logprob for token in tokens_of(bare)} == {None}
        assert end_of(bare).generated_tokens == end_of(whole).generated_tokens


@pytest.mark.parametrize(
    ("name", "engines"),
    [
        ("openai_api", "openai or llama_cpp"),
        ("dialect", "openai"),
        ("logprob_kind", "openai"),
        ("max_total_tokens", "openai or llama_cpp"),
        ("slots", "llama_cpp"),
    ],
)
async def test_openai_settings_are_rejected_with_another_engine(
    name: str, engines: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"openai_api": "chat", "dialect": "vllm", "logprob_kind": "raw"}
    monkeypatch.setenv(f"SCAAR_GENERATOR_{name.upper()}", given.get(name, "1"))
    setting = f"SCAAR_GENERATOR_{name.upper()}"
    text = f"{setting}: requires engine {engines}, but the engine is onnx"
    with pytest.raises(InvalidRequest, match=text):
        GeneratorSettings.read()


# --- the ways of telling --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ODD_AND_ALIKE)
@pytest.mark.parametrize("openai_api", APIS)
@pytest.mark.parametrize("dialect", REPRODUCED)
async def test_tokens_are_the_same_in_every_format(
    dialect: str, openai_api: str, kind: Failure
) -> None:
    async with opened(dialect, openai_api=openai_api) as both:
        whole = await write(both.generator)
        both.server.failures.inject(kind)
        odd = await write(both.generator)
        assert tokens_of(odd) == tokens_of(whole)
        assert end_of(odd) == end_of(whole)


@pytest.mark.parametrize("openai_api", APIS)
@pytest.mark.parametrize("dialect", REPRODUCED)
async def test_a_split_character_is_returned_with_its_last_part(
    dialect: str, openai_api: str
) -> None:
    async with opened(dialect, openai_api=openai_api) as both:
        whole = tokens_of(await write(both.generator))
        both.server.failures.inject(Failure.SPLIT_CHARACTERS)
        parts = tokens_of(await write(both.generator))
        assert [token.text for token in parts[1::2]] == [token.text for token in whole]
        for first, second in zip(parts[::2], parts[1::2], strict=True):
            assert (first.text, first.start, first.end) == ("", second.start, second.start)


@pytest.mark.parametrize("openai_api", APIS)
@pytest.mark.parametrize("dialect", REPRODUCED)
async def test_a_number_for_no_log_probability_is_a_missing_one(
    dialect: str, openai_api: str
) -> None:
    async with opened(dialect, openai_api=openai_api) as both:
        whole = tokens_of(await write(both.generator))
        both.server.failures.inject(Failure.MISSING_LOGPROBS)
        found = tokens_of(await write(both.generator))
        assert [token.logprob for token in found] == [
            None if place % 2 else token.logprob for place, token in enumerate(whole)
        ]


@pytest.mark.parametrize("dialect", REPRODUCED)
async def test_tokens_are_counted_where_the_server_does_not(
    dialect: str,
) -> None:
    async with opened(dialect) as both:
        counted = end_of(await write(both.generator))
        both.server.failures.inject(Failure.NO_USAGE)
        end = end_of(await write(both.generator))
        assert (end.prompt_tokens, end.generated_tokens) == (0, counted.generated_tokens)


@pytest.mark.parametrize("dialect", ["vllm", "sglang", "llama_cpp"])
async def test_the_prompt_tokens_are_reported_before_the_first_token(dialect: str) -> None:
    async with opened(dialect) as both:
        first, second, *_ = events = await write(both.generator)
        assert isinstance(first, GenerationStart)
        assert first.prompt_tokens == end_of(events).prompt_tokens
        assert isinstance(second, Token)


async def test_the_end_of_sequence_token_is_counted_but_not_returned() -> None:
    async with opened("vllm") as vllm, opened("openai") as openai:
        theirs = await write(vllm.generator, max_tokens=200)
        others = await write(openai.generator, max_tokens=200)
        assert end_of(theirs).finish_reason is FinishReason.END_OF_SEQUENCE
        assert tokens_of(theirs) == tokens_of(others)
        assert end_of(theirs).generated_tokens == len(tokens_of(theirs)) + 1


# --- chats ----------------------------------------------------------------------------------------


def test_the_prompt_is_the_users_turn_and_the_prefix_the_models() -> None:
    request = REQUEST.__class__(PROMPT, prefix=" Ada")
    user = {"role": "user", "content": PROMPT}
    model = {"role": "assistant", "content": " Ada"}
    assert turns_of(REQUEST, ContinuationKind.NATIVE) == [user]
    assert turns_of(request, ContinuationKind.NATIVE) == [user, model]
    requested = {"role": "user", "content": CONTINUE_INSTRUCTION}
    assert turns_of(request, ContinuationKind.RESTATED) == [user, model, requested]


async def test_the_repeats_of_a_continuing_model_are_removed() -> None:
    async with opened("openai", openai_api="chat") as both:
        whole = tokens_of(await write(both.generator, max_tokens=40))
        cut = next(at for at, token in enumerate(whole) if "." in token.text) + 1
        prefix = "".join(token.text for token in whole[:cut])
        rest = "".join(token.text for token in whole[cut:])
        both.server.failures.inject(Failure.REPEATS)
        found = await write(both.generator, prefix=prefix, max_tokens=40 - cut)
        assert both.server.generations.accepted[-1].restated
        assert text_of(found) == rest
        assert tokens_of(found)[0].start == 0


# --- the lab server, to others --------------------------------------------------------------------


@pytest.mark.parametrize("dialect", REPRODUCED)
async def test_the_client_of_openai_is_served_unmodified(dialect: Any) -> None:
    async with open_openai_server(dialect=dialect) as server:
        async with AsyncOpenAI(base_url=server.url, api_key="any", max_retries=0) as client:
            (model,) = (await client.models.list()).data
            whole = await client.completions.create(
                model=model.id, prompt=PROMPT, max_tokens=8, temperature=0, logprobs=1
            )
            chat = await client.chat.completions.create(
                model=model.id,
                messages=[{"role": "user", "content": PROMPT}],
                max_tokens=8,
                temperature=0,
                logprobs=True,
            )
        assert chat.choices[0].message.content == whole.choices[0].text
        assert chat.choices[0].logprobs is not None
        assert len(chat.choices[0].logprobs.content or ()) == 8
        assert whole.usage == chat.usage


async def test_a_stream_yields_events_to_its_reader() -> None:
    requested = {"model": "lab-lm", "prompt": PROMPT, "max_tokens": 3, "temperature": 0}
    requested |= {"stream": True, "logprobs": 1, "stream_options": {"include_usage": True}}
    async with (
        open_openai_server(dialect="sglang") as server,
        ClientSession() as session,
        session.post(f"{server.url}/completions", json=requested) as response,
    ):
        assert response.content_type == "text/event-stream"
        lines = [line for line in (await response.text()).splitlines() if line]
    assert lines[-1] == "data: [DONE]"
    *chunks, usage = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    assert usage["usage"]["completion_tokens"] == 3
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, None, "length"]
    assert {chunk["choices"][0]["logprobs"]["text_offset"][0] for chunk in chunks} == {-1}


@pytest.mark.parametrize(
    ("dialect", "wrong", "status", "message_text"),
    [
        ("openai", {"repetition_penalty": 1.0}, 400, "Unrecognized request argument"),
        ("openai", {"model": "other"}, 404, "does not exist"),
        ("vllm", {"temperature": 0.7}, 400, "whole vocabulary"),
        ("vllm", {"temperature": 2.1}, 400, "temperature must be 0 to 2"),
        ("openai", {"echo": True, "logprobs": 1}, 400, "'echo' and 'logprobs'"),
        ("vllm", {"max_tokens": 0}, 400, "max_tokens"),
        ("sglang", {"prompt": 7}, 400, "prompt"),
        ("llama_cpp", {"logprobs": 21}, 400, "logprobs"),
    ],
)
async def test_a_wrong_request_is_refused_as_the_dialect_does(
    dialect: Any, wrong: dict[str, Any], status: int, message_text: str
) -> None:
    requested = {"model": "lab-lm", "prompt": PROMPT, "max_tokens": 3, "temperature": 0, **wrong}
    async with (
        open_openai_server(dialect=dialect) as server,
        ClientSession() as session,
        session.post(f"{server.url}/completions", json=requested) as response,
    ):
        body = await response.json()
        assert response.status == status
    error = body if dialect == "sglang" else body["error"]
    assert message_text in error["message"]


async def test_an_unknown_failure_is_reported_with_the_known_ones() -> None:
    with pytest.raises(InvalidRequest, match="unknown failure 'fire'; known: overload, "):
        async with open_openai_server(fail=["fire"]):
            pass


async def test_a_server_without_a_list_serves_the_model_that_is_named() -> None:
    app = web.Application()
    async with open_openai_server(dialect="openai") as server, ClientSession() as session:

        async def completions(request: web.Request) -> web.Response:
            body, url = await request.read(), f"{server.url}/completions"
            async with session.post(url, data=body) as answer:
                return web.Response(body=await answer.read(), content_type=answer.content_type)

        app.router.add_post("/v1/completions", completions)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            async with open_generator(settings_of(url, model="lab-lm")) as generator:
                assert (await generator.describe_model()).model == "lab-lm"
                assert text_of(await write(generator))
        finally:
            await runner.cleanup()


@pytest.mark.parametrize("kind", [None, Failure.NO_LOGPROBS, Failure.LATE_TEXT])
async def test_an_echoed_turn_is_removed_from_the_text(
    kind: Failure | None,
) -> None:
    async with opened("llama_cpp", openai_api="chat") as both:
        whole = tokens_of(await write(both.generator, max_tokens=12))
        if kind is not None:
            both.server.failures.inject(kind)
        prefix = "".join(token.text for token in whole[:4])
        found = await write(both.generator, prefix=prefix, max_tokens=8)
        assert text_of(found) == "".join(token.text for token in whole[4:])
        assert tokens_of(found)[0].start == 0


# --- any server -----------------------------------------------------------------------------------


class OddServer:
    """A server of one path that lists another model and writes without end."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.requests = list[dict[str, Any]]()
        self.ended = asyncio.Event()

    async def models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "a", "object": "model"}]})

    async def chunks(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(await request.json())
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        chunk = {"id": "1", "choices": [{"index": 0, "delta": {"content": " word"}}]}
        try:
            while True:
                await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
        finally:
            self.ended.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_get("/v1/models", self.models)
        app.router.add_post(self.path, self.chunks)
        async with listening(app, "127.0.0.1", 0) as url:
            yield url


async def test_the_probe_of_an_unlisted_model_ends_with_its_first_token() -> None:
    server = OddServer("/v1/chat/completions")
    async with (
        asyncio.timeout(60),
        server.running() as url,
        open_generator(settings_of(url, model="b", openai_api="chat")) as generator,
    ):
        await server.ended.wait()
        model = await generator.describe_model()
        assert model.model == "b"
        assert model.capabilities == {Capability.SAMPLING, Capability.SYSTEM_TURN}
        assert [request["model"] for request in server.requests] == ["b"]
        assert server.requests[0]["max_tokens"] == 1


async def test_an_unknown_path_names_the_path_and_the_setting() -> None:
    server = OddServer("/v1/chat/completions")
    expected = "for /v1/completions.*SCAAR_GENERATOR_OPENAI_API=chat"
    async with server.running() as url:
        with pytest.raises(NotFound, match=expected):
            async with open_generator(settings_of(url, model="a")):
                pass


async def test_a_model_that_the_server_rejects_is_reported_with_those_that_it_lists() -> None:
    async with open_openai_server(dialect="vllm") as server:
        with pytest.raises(NotFound, match="SCAAR_GENERATOR_MODEL to one of: lab-lm") as caught:
            async with open_generator(settings_of(server.url, model="other")):
                pass
    assert "The model `other` does not exist." in str(caught.value)
