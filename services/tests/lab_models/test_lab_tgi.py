"""``scaar lab tgi``: unmodified clients of TGI are served, and whole answers come by it."""

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from text_generation.client import AsyncClient, Client
from text_generation.errors import (
    GenerationError,
    IncompleteGenerationError,
    OverloadedError,
    ValidationError,
)

from scaar.core.types import GenerateRequest, Token
from scaar.generator.engines.onnx import open_onnx_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab_servers.address import listening
from scaar.lab_servers.tgi import TgiServer, open_tgi_server
from scaar.lab_servers.tgi_failures import Failure
from scaar.testing.commands import run_scaar

PROMPT = "Question: Who directed the film The Haunted Fountain?\nAnswer:"
# The package asks for what pydantic 2 has under another name.
pytestmark = pytest.mark.filterwarnings("ignore:The `dict` method is deprecated")


@pytest.fixture
async def server() -> AsyncIterator[TgiServer]:
    async with open_tgi_server() as running:
        yield running
        async with asyncio.timeout(10):
            await running.generations.until_idle()


@pytest.fixture
async def http(server: TgiServer) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(server.url) as session:
        yield session


async def embedded(max_tokens: int) -> list[Token]:
    """What the embedded engine writes."""
    settings = GeneratorSettings(model=str(model_folder(LAB_LM)))
    async with open_onnx_generator(settings) as engine:
        events = engine.generate(GenerateRequest(PROMPT, max_tokens=max_tokens))
        return [event async for event in events if isinstance(event, Token)]


def asking(stream: bool = True, **parameters: Any) -> dict[str, Any]:
    given = {"max_new_tokens": 8, "details": True, **parameters}
    return {"inputs": PROMPT, "parameters": given, "stream": stream}


def payloads(body: bytes) -> list[dict[str, Any]]:
    """The events of a stream."""
    lines = body.splitlines()
    assert all(not line or line.startswith(b"data:") for line in lines)
    return [json.loads(line.removeprefix(b"data:")) for line in lines if line]


# --- the package's own clients ------------------------------------------------------------------


async def test_the_packages_client_is_answered_with_what_the_engine_writes(
    server: TgiServer,
) -> None:
    tokens = await embedded(8)
    answer = await AsyncClient(server.url).generate(PROMPT, max_new_tokens=8)
    assert answer.generated_text == "".join(token.text for token in tokens)
    assert [token.id for token in answer.details.tokens] == [token.id for token in tokens]
    assert answer.details.finish_reason == "length"
    assert answer.details.generated_tokens == 8


async def test_the_packages_client_is_streamed_to(server: TgiServer) -> None:
    tokens = await embedded(8)
    stream = AsyncClient(server.url).generate_stream(PROMPT, max_new_tokens=8, top_n_tokens=2)
    events = [event async for event in stream]
    assert [(each.token.id, each.token.text) for each in events] == [
        (token.id, token.text) for token in tokens
    ]
    assert [each.token.logprob for each in events] == pytest.approx(
        [token.logprob for token in tokens]
    )
    assert [each.details is None for each in events] == [True] * 7 + [False]
    assert events[-1].generated_text == "".join(token.text for token in tokens)
    for each in events:
        assert each.top_tokens is not None
        assert (len(each.top_tokens), each.top_tokens[0].id) == (2, each.token.id)


async def test_the_packages_blocking_client_is_served_too(server: TgiServer) -> None:
    answer = await asyncio.to_thread(Client(server.url).generate, PROMPT, max_new_tokens=8)
    assert answer.generated_text == "".join(token.text for token in await embedded(8))


@pytest.mark.parametrize(
    ("kind", "raised"),
    [
        (Failure.OVERLOAD, OverloadedError),
        (Failure.ERROR_EVENT, GenerationError),
        (Failure.INCOMPLETE, IncompleteGenerationError),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
async def test_the_packages_client_raises_its_own_errors(
    server: TgiServer, kind: Failure, raised: type[Exception], stream: bool
) -> None:
    server.failures.inject(kind)
    client = AsyncClient(server.url)

    async def ask() -> None:
        if stream:
            async for _ in client.generate_stream(PROMPT):
                pass
        else:
            await client.generate(PROMPT)

    with pytest.raises(raised):
        await ask()


async def test_what_the_labs_model_cannot_do_is_refused(server: TgiServer) -> None:
    client = AsyncClient(server.url)
    for parameters in ({"top_k": 5}, {"top_p": 0.5}, {"top_n_tokens": 6}):
        with pytest.raises(ValidationError):
            await client.generate(PROMPT, **parameters)


# --- the wire -------------------------------------------------------------------------------------


async def test_a_stream_is_an_event_a_token_and_the_last_has_the_end(
    http: aiohttp.ClientSession,
) -> None:
    for path in ("/", "/generate_stream"):
        async with http.post(path, json=asking(max_new_tokens=200)) as response:
            assert (response.status, response.content_type) == (200, "text/event-stream")
            events = payloads(await response.read())
        assert [event["index"] for event in events] == list(range(1, len(events) + 1))
        assert all(
            event["details"] is None and event["generated_text"] is None for event in events[:-1]
        )
        last = events[-1]
        assert last["token"] == {"id": 2, "text": "</s>", "logprob": None, "special": True}
        assert last["generated_text"] == "".join(event["token"]["text"] for event in events[:-1])
        assert last["details"] == {
            "finish_reason": "eos_token",
            "generated_tokens": len(events),
            "seed": None,
            "input_length": 14,
        }
        assert set(events[0]["token"]) == {"id", "text", "logprob", "special"}


async def test_a_stop_sequence_ends_at_the_end_of_a_token_and_stays_in_the_text(
    http: aiohttp.ClientSession,
) -> None:
    text = "".join(token.text for token in await embedded(8))
    at_an_end, within = " film The", "ilm Th"
    assert at_an_end in text
    async with http.post("/generate_stream", json=asking(stop=[at_an_end])) as response:
        last = payloads(await response.read())[-1]
    assert last["generated_text"].endswith(at_an_end)
    assert last["details"]["finish_reason"] == "stop_sequence"
    async with http.post("/generate_stream", json=asking(stop=[within])) as response:
        assert payloads(await response.read())[-1]["generated_text"] == text


@pytest.mark.parametrize(
    ("kind", "status", "error_type"),
    [
        (Failure.OVERLOAD, 429, "overloaded"),
        (Failure.ERROR_EVENT, 424, "generation"),
        (Failure.INCOMPLETE, 500, "incomplete_generation"),
        (None, 422, "validation"),
    ],
)
async def test_an_error_is_a_status_or_an_event(
    server: TgiServer,
    http: aiohttp.ClientSession,
    kind: Failure | None,
    status: int,
    error_type: str,
) -> None:
    if kind is not None:
        server.failures.inject(kind)
    tokens = 8 if kind is not None else 8192
    for path, stream in (("/", False), ("/generate", False)):
        async with http.post(path, json=asking(stream, max_new_tokens=tokens)) as response:
            assert response.status == status
            assert (await response.json())["error_type"] == error_type
    async with http.post("/", json=asking(max_new_tokens=tokens)) as response:
        assert response.status == 200
        assert payloads(await response.read())[-1]["error_type"] == error_type


async def test_an_invalid_request_is_refused_without_tgis_json(
    http: aiohttp.ClientSession,
) -> None:
    for body, status in ((b"{half", 400), (b'{"inputs": "' + b"x" * 2_100_000, 413)):
        async with http.post("/generate", data=io.BytesIO(body)) as response:
            assert response.status == status
            assert response.content_type != "application/json"


async def test_comments_keep_a_slow_stream_alive() -> None:
    async with (
        open_tgi_server(fail=["slow"], keep_alive_s=0.02, slow_s=0.2) as server,
        aiohttp.ClientSession(server.url) as http,
        http.post("/generate_stream", json=asking(max_new_tokens=1)) as response,
    ):
        assert (await response.content.readline()) == b":\n"


async def test_a_server_has_limited_room(http: aiohttp.ClientSession) -> None:
    async with (
        open_tgi_server(max_concurrent_requests=1) as server,
        aiohttp.ClientSession(server.url) as http,
        http.post("/generate_stream", json=asking(max_new_tokens=1024)) as first,
    ):
        assert (await first.content.readline()).startswith(b"data:")
        async with http.post("/generate", json=asking(stream=False)) as second:
            assert second.status == 429
        first.close()
        async with asyncio.timeout(10):
            await server.generations.until_idle()
        async with http.post("/generate", json=asking(stream=False)) as third:
            assert third.status == 200


async def test_at_its_pace_a_generation_waits_for_its_next_token_and_ends_with_its_client() -> None:
    async with (
        open_tgi_server(pace_s=3600.0) as server,
        aiohttp.ClientSession(server.url) as http,
        http.post("/generate_stream", json=asking(max_new_tokens=2)) as response,
    ):
        assert (await response.content.readline()).startswith(b"data:")
        assert server.generations.running == 1
        response.close()
        async with asyncio.timeout(10):
            await server.generations.until_idle()
        assert server.generations.succeeded == 0


async def test_a_client_that_disconnects_at_the_start_of_its_answer_is_not_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def begin(request: web.Request) -> web.StreamResponse:
        assert request.transport
        request.transport.abort()
        response = web.StreamResponse()
        await response.prepare(request)
        return response

    app = web.Application()
    app.router.add_get("/", begin)
    async with listening(app, "127.0.0.1", 0) as url, aiohttp.ClientSession(url) as http:
        with pytest.raises(aiohttp.ClientConnectionError):
            await http.get("/")
    assert caplog.text == ""


async def test_a_key_is_required_except_for_monitoring() -> None:
    async with (
        open_tgi_server(api_key="k") as server,
        aiohttp.ClientSession(server.url) as http,
    ):
        for path in ("/info", "/health", "/metrics"):
            async with http.get(path) as response:
                assert response.status == 200
        for headers, status in (({}, 401), ({"Authorization": "Bearer k"}, 200)):
            async with http.post("/generate", json=asking(False), headers=headers) as response:
                assert response.status == status


async def test_the_server_tells_of_itself(server: TgiServer, http: aiohttp.ClientSession) -> None:
    async with http.get("/health") as response:
        assert (response.status, await response.read()) == (200, b"")
    async with http.get("/info") as response:
        info = await response.json()
    assert (info["model_id"], info["version"]) == (LAB_LM, "3.3.7")
    assert (info["max_input_tokens"], info["max_total_tokens"]) == (8191, 8192)
    assert info["max_concurrent_requests"] == 128
    await AsyncClient(server.url).generate(PROMPT)
    async with http.get("/metrics") as response:
        assert "tgi_request_success 1\n" in await response.text()
    async with http.post("/tokenize", json={"inputs": "Who was"}) as response:
        tokens = await response.json()
    assert [token["text"] for token in tokens] == ["", "Who", " was"]
    server.failures.inject(Failure.MODEL_CHANGED, 1)
    await AsyncClient(server.url).generate(PROMPT)
    async with http.get("/info") as response:
        assert (await response.json())["model_sha"] == f"{info['model_sha']}-1"


# --- the command ----------------------------------------------------------------------------------


@contextmanager
def running(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """``scaar lab tgi`` on a free port: the process, and its URL."""
    command = [sys.executable, "-m", "scaar.cli", "lab", "tgi", "--address", "127.0.0.1:0"]
    with subprocess.Popen(
        [*command, *options],
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            assert line.startswith("TGI serving at http://127.0.0.1:"), line
            yield process, line.split()[-1]
        finally:
            process.send_signal(signal.SIGINT)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running() as (_, url):
        yield url


def by_tgi(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """The generator's settings for the server, in the environment."""
    for name, value in (("ENGINE", "tgi"), ("URL", url), ("PROMPT_PROFILE", "lab")):
        monkeypatch.setenv(f"SCAAR_GENERATOR_{name}", value)


OF_ENGINES = ("generated_tokens", "evaluated_prompt_tokens")
"""Usage that depends on how far an engine writes ahead, and on what it has cached."""


def answers(questions: Path, *options: str) -> list[dict[str, Any]]:
    """What is answered, without what differs from one run to the next and from engine to engine."""
    out = questions.with_name("answers.jsonl")
    ran = run_scaar("ask", "--file", str(questions), "--out", str(out), *options)
    assert ran.status == 0, ran.err
    assert ran.err.endswith("10 questions: 10 answered, 0 failed\n")
    records = [json.loads(line) for line in out.read_text().splitlines()]
    out.unlink()
    found = [
        {key: each[key] for key in each if not key.endswith("_ms") and key not in OF_ENGINES}
        for each in records
    ]
    return sorted(found, key=lambda each: str(each["id"]))


@pytest.mark.parametrize(
    ("policy", "settings"),
    [("scaar", ("theta=0.25", "alpha=75")), ("flare", ("theta=0.35",)), ("ircot", ())],
)
def test_ten_questions_are_answered_by_tgi_as_by_the_embedded_engine(
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    policy: str,
    settings: tuple[str, ...],
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text(run_scaar("lab", "questions", "--count", "10").out)
    options = ["--policy", policy, *(f"--set={each}" for each in settings)]
    expected = answers(questions, *options)
    by_tgi(monkeypatch, url)
    assert answers(questions, *options) == expected
    assert sum(each["retrievals"] for each in expected) >= 5


def test_a_policy_that_needs_what_tgi_lacks_is_refused_by_name(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_tgi(monkeypatch, url)
    ran = run_scaar("ask", "Who?", "--policy", "dragin")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(
        f"scaar: policy dragin needs attention, entropy, which model {LAB_LM} on engine tgi does"
    )


def test_a_server_that_fails_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with running("--fail", "truncated") as (_, url):
        by_tgi(monkeypatch, url)
        ran = run_scaar("ask", "Who?")
    assert (ran.status, ran.err) == (1, f"scaar: {url} closed the stream before its end\n")


def test_an_unreachable_server_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_tgi(monkeypatch, "http://127.0.0.1:1")
    ran = run_scaar("ask", "Who?")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("scaar: http://127.0.0.1:1 does not answer: Connection refused")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_server_stops_when_it_is_reported_to(number: signal.Signals) -> None:
    with running() as (process, _):
        process.send_signal(number)
        assert process.wait(10) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--fail", "nonsense"), "--fail: unknown failure 'nonsense'; known: overload, "),
        (("--fail", "slow=0"), "--fail: must be slow=TIMES with TIMES at least 1, not 'slow=0'"),
        (("--address", "nowhere"), "--address: must be host:port, not 'nowhere'"),
        (("--address", "127.0.0.1:99999"), "--address: must be host:port, not "),
    ],
)
def test_wrong_options_are_named(options: tuple[str, ...], message: str) -> None:
    ran = run_scaar("lab", "tgi", *options)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"scaar: {message}")
    assert ran.err.count("\n") == 1
