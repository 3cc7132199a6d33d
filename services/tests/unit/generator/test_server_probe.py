"""What ``scaar doctor --probe`` finds of servers."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from reference.servers import as_documented, documented_capabilities
from scaar.core.errors import InvalidRequest, NotFound
from scaar.core.types import Capability, GenerateRequest
from scaar.generator.server_probe import observed_capabilities, probe_server
from scaar.generator.settings import GeneratorSettings
from scaar.lab_servers.address import listening
from scaar.lab_servers.openai import open_openai_server
from scaar.lab_servers.openai_failures import Failure
from scaar.lab_servers.tgi import open_tgi_server
from scaar.testing.commands import run_scaar
from scaar.testing.fakes import SCRIPTED_MODEL, ScriptedGenerator
from scaar.testing.server_probe import probed

from .openai_servers import settings_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("dialect", "openai_api", "fail", "expected"),
    [
        (
            *("vllm", "chat", []),
            ("raw", "unchanged", "20", "exact", "native", "off by request", "reported", "yes"),
        ),
        (
            *("generic", "completions", []),
            ("unknown", "unchanged", "5", "exact", "native", "none seen", "reported", "no"),
        ),
        (
            # The lab's model reads a word without the space before it as other tokens.
            *("sglang", "chat", [Failure.THINKS_ALWAYS]),
            (
                *("processed", "unchanged", "20", "exact", "native, but another text follows"),
                *("always, split off", "reported", "no"),
            ),
        ),
        (
            *("generic", "chat", [Failure.NO_LOGPROBS, Failure.NO_USAGE]),
            (
                *("none", "none", "0", "no tokens reported", "restated"),
                *("off by request", "unknown", "no"),
            ),
        ),
    ],
)
async def test_the_capabilities_of_a_server_are_those_that_generations_show(
    dialect: Any, openai_api: str, fail: list[Failure], expected: tuple[str, ...]
) -> None:
    async with open_openai_server(dialect=dialect, fail=fail) as server:
        found = await probed(settings_of(server.url, openai_api=openai_api))
    names = (
        *("log-probabilities", "with temperature", "most likely tokens", "alignment"),
        *("continuation", "thinking", "prompt tokens", "seed"),
    )
    assert tuple(found[name] for name in names) == expected


async def test_the_capabilities_of_tgi_are_those_of_the_documentation() -> None:
    async with open_tgi_server() as server:
        found = await probed(GeneratorSettings(engine="tgi", url=server.url))
    documented = documented_capabilities("TGI (emulated)")
    only_openai = {"alignment", "thinking", "prompt tokens", "context"}
    assert {documented[name] for name in only_openai} == {"-"}
    of_server = as_documented(found)
    assert {name: documented[name] for name in of_server} == of_server


async def test_a_context_that_nobody_names_is_marked_as_assumed() -> None:
    async with open_openai_server(dialect="generic") as server:
        found = await probed(settings_of(server.url))
        named = await probed(settings_of(server.url, max_total_tokens=2048))
    assert found["context"] == "4096 tokens, assumed: set SCAAR_GENERATOR_MAX_TOTAL_TOKENS"
    assert named["context"] == "2048 tokens"


async def test_a_server_that_lists_no_model_needs_a_name() -> None:
    async def models(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": []})

    app = web.Application()
    app.router.add_get("/v1/models", models)
    async with listening(app, "127.0.0.1", 0) as url:
        with pytest.raises(NotFound, match="lists no model; set SCAAR_GENERATOR_MODEL to the name"):
            await probed(settings_of(url))


SAMPLER = replace(
    SCRIPTED_MODEL,
    capabilities=frozenset({Capability.LOGPROBS, Capability.SAMPLING, Capability.SEED}),
)
WORDS = ((" The", -0.5), (" first", -0.5), (" novel", -0.5))


def sampled(temperature: float, number: int) -> list[tuple[str, float]]:
    """The words, the last of which is another one with each temperature and number."""
    return [*WORDS[:2], (f" novel{number}" if temperature else " novel", -0.5)]


@pytest.mark.parametrize(
    ("script", "sampling", "seed", "tempered"),
    [
        (lambda asked, _: sampled(0, 0), "ignored", "yes", "unchanged"),
        (
            lambda asked, at: sampled(asked.temperature, at if asked.seed is None else asked.seed),
            *("yes", "yes", "unchanged"),
        ),
        (lambda asked, at: sampled(asked.temperature, at), "yes", "ignored", "unchanged"),
        (
            lambda asked, at: [(text, -0.2 if asked.temperature else -0.5) for text, _ in WORDS],
            *("ignored", "yes", "changed"),
        ),
    ],
)
async def test_what_a_server_ignores_is_seen(
    script: Callable[[GenerateRequest, int], list[tuple[str, float]]],
    sampling: str,
    seed: str,
    tempered: str,
) -> None:
    requests = list[GenerateRequest]()

    def pieces(request: GenerateRequest) -> list[tuple[str, float]]:
        requests.append(request)
        words = script(request, len(requests))
        return words[len(request.prefix.split()) :]

    found = await observed_capabilities(ScriptedGenerator(pieces, model=SAMPLER))
    names = ("sampling", "seed", "with temperature", "continuation")
    assert [found[name] for name in names] == [sampling, seed, tempered, "native"]


async def test_a_text_that_a_server_begins_again_is_seen() -> None:
    model = replace(SCRIPTED_MODEL, capabilities=frozenset({Capability.LOGPROBS}))
    found = await observed_capabilities(ScriptedGenerator(lambda _: WORDS, model=model))
    assert found["continuation"] == "native, but another text follows"
    assert [found[name] for name in ("sampling", "seed")] == ["no", "no"]


async def test_doctor_prints_the_capabilities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path))
    async with open_openai_server(dialect="vllm") as server:
        settings = {"ENGINE": "openai", "URL": server.url, "PROMPT_PROFILE": "lab"}
        for name, value in settings.items():
            monkeypatch.setenv(f"SCAAR_GENERATOR_{name}", value)
        ran = await asyncio.to_thread(run_scaar, "doctor", "--probe")
    assert ran.status == 0, ran.out
    lines = ran.out.splitlines()
    assert "✓ generator server, kind of server: vllm" in lines
    assert "✓ generator server, with temperature: unchanged" in lines
    assert "✓ generator server, text log-probabilities: yes" in lines


async def test_doctor_marks_what_the_engine_does_not_expect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path))
    async with open_openai_server(dialect="generic") as server:
        settings = {"ENGINE": "openai", "URL": server.url, "PROMPT_PROFILE": "lab"}
        for name, value in settings.items():
            monkeypatch.setenv(f"SCAAR_GENERATOR_{name}", value)
        ran = await asyncio.to_thread(run_scaar, "doctor", "--probe")
    assert ran.status == 0, ran.out
    assert "! generator server, context: 4096 tokens, assumed: set SCAAR_GEN" in ran.out
    assert "✓ generator server, with temperature: unchanged" in ran.out


async def test_an_engine_without_a_server_is_rejected() -> None:
    with pytest.raises(
        InvalidRequest, match="only engines openai, tgi and llama_cpp have a server to probe"
    ):
        await probe_server(ScriptedGenerator(lambda _: []))
