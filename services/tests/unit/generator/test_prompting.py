"""How a model is prompted where no setting says so: API, chat template and profile."""

from pathlib import Path
from typing import Any

import pytest

from scaar.core.types import (
    Capability,
    ContinuationKind,
    GenerateRequest,
    ModelDescription,
    ModelKind,
)
from scaar.generator.engines.openai import open_openai_generator
from scaar.generator.engines.tgi_server.prompting import choose_prompting as choose_tgi_prompting
from scaar.generator.settings import GeneratorSettings
from scaar.testing.chat_templates import FAMILIES, Family
from scaar.testing.server_probe import probed

from . import tgi_servers
from .openai_servers import settings_of, write
from .scripted_openai import Json, ScriptedServer, serving

CHATML, MISTRAL = FAMILIES[1].template, FAMILIES[2].template
INSTRUCT, BASE = "llama-1b-instruct", "llama-1b"
PROPERTIES: Json = {"chat_template": CHATML, "bos_token": "<s>", "eos_token": "<|im_end|>"}
TURN = "<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n"
ASKED: dict[str, Any] = {"prompt": "Who?", "prefix": " She was", "max_tokens": 2}


async def prompted(
    server: ScriptedServer, *, system: str = "", **settings: Any
) -> tuple[ModelDescription, str, Json]:
    """Return the model as described, and the path and the body of a request to the server."""
    async with (
        serving(server),
        open_openai_generator(settings_of(server.url, **settings)) as generator,
    ):
        described = await generator.describe_model()
        await write(generator, **ASKED, system=system)
    return described, *server.requests[-1]


async def test_an_instruct_model_of_llama_cpp_completes_in_the_template_that_it_reports() -> None:
    server = ScriptedServer(INSTRUCT, "llamacpp", PROPERTIES)
    described, path, body = await prompted(server)
    assert (path, body["prompt"]) == ("/v1/completions", f"{TURN} She was")
    assert described.kind is ModelKind.INSTRUCT
    assert described.continuation is ContinuationKind.NATIVE
    assert described.prompt_profile == "instruct"


async def test_text_of_the_system_has_its_turn_in_that_template() -> None:
    server = ScriptedServer(INSTRUCT, "llamacpp", PROPERTIES)
    described, _, body = await prompted(server, system="Be brief.")
    assert Capability.SYSTEM_TURN in described.capabilities
    assert body["prompt"] == f"<|im_start|>system\nBe brief.<|im_end|>\n{TURN} She was"


@pytest.mark.parametrize(("adds_bos", "start"), [(True, ""), (False, "<s>")])
async def test_a_text_has_one_token_at_its_beginning(adds_bos: bool, start: str) -> None:
    properties = {**PROPERTIES, "chat_template": MISTRAL}
    server = ScriptedServer(INSTRUCT, "llamacpp", properties, adds_bos=adds_bos)
    _, _, body = await prompted(server)
    assert body["prompt"] == f"{start}[INST] Who? [/INST] She was"


@pytest.mark.parametrize("properties", [None, {}, {"chat_template": "nothing"}])
async def test_without_a_usable_template_the_server_applies_its_own(
    properties: Json | None,
) -> None:
    server = ScriptedServer(INSTRUCT, "llamacpp", properties)
    _, path, body = await prompted(server)
    assert path == "/v1/chat/completions"
    assert body["messages"][-1] == {"role": "assistant", "content": " She was"}


async def test_a_template_keeps_a_model_from_thinking() -> None:
    closed = "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"
    properties = {**PROPERTIES, "chat_template": CHATML + closed}
    _, _, body = await prompted(ScriptedServer(INSTRUCT, "llamacpp", properties))
    assert body["prompt"] == f"{TURN}<think></think> She was"


@pytest.mark.parametrize("owner", ["vllm", "sglang", "library", "lab"])
async def test_an_instruct_model_of_another_server_chats(owner: str) -> None:
    described, path, body = await prompted(ScriptedServer(INSTRUCT, owner))
    assert path == "/v1/chat/completions"
    assert body["messages"][0] == {"role": "user", "content": "Who?"}
    assert described.prompt_profile == "instruct"
    native = owner != "lab"
    assert (described.continuation is ContinuationKind.NATIVE) == native


@pytest.mark.parametrize("owner", ["llamacpp", "vllm", "lab"])
async def test_a_base_model_completes_although_it_has_a_template(owner: str) -> None:
    described, path, body = await prompted(ScriptedServer(BASE, owner, PROPERTIES))
    assert (path, body["prompt"]) == ("/v1/completions", "Who? She was")
    assert (described.kind, described.prompt_profile) == (ModelKind.BASE, "scaar")


@pytest.mark.parametrize(
    ("settings", "path", "prompt"),
    [
        ({"openai_api": "chat"}, "/v1/chat/completions", None),
        ({"openai_api": "completions"}, "/v1/completions", f"{TURN} She was"),
        ({"model_kind": "base"}, "/v1/completions", "Who? She was"),
        ({"model_kind": "base", "openai_api": "chat"}, "/v1/chat/completions", None),
    ],
)
async def test_settings_override_every_choice(
    settings: dict[str, str], path: str, prompt: str | None
) -> None:
    server = ScriptedServer(INSTRUCT, "llamacpp", PROPERTIES)
    described, called, body = await prompted(server, **settings, prompt_profile="dragin")
    assert (called, body.get("prompt")) == (path, prompt)
    assert described.prompt_profile == "dragin"


async def test_completions_without_a_template_are_reported_for_an_instruct_model() -> None:
    async with serving(ScriptedServer(INSTRUCT, "vllm")) as server:
        found = await probed(settings_of(server.url, openai_api="completions"))
    assert found["prompt profile"] == "scaar (for models without a chat template)"
    assert found["chat template"].startswith("missing (the server reports none): set SCAAR_")


async def test_the_probe_says_what_was_chosen_and_why() -> None:
    async with serving(ScriptedServer(INSTRUCT, "llamacpp", PROPERTIES)) as server:
        found = await probed(settings_of(server.url))
    assert found["kind"] == f"instruct (the name {INSTRUCT} contains instruct)"
    assert found["API"] == "completions (an instruct model whose template the server reports)"
    assert found["chat template"] == "reported by the server"
    assert found["prompt profile"] == "instruct (for instruct models)"


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
async def test_tgi_completes_in_the_template_of_the_model_if_its_files_are_here(
    family: Family, tmp_path: Path
) -> None:
    folder = tmp_path / "llama-instruct"
    folder.mkdir()
    chosen = await choose_tgi_prompting(
        GeneratorSettings(engine="tgi"), str(family.put(folder)), configured=None
    )
    request = GenerateRequest("Who?", prefix=" She was")
    assert chosen.text.of(request) == f"{family.before}Who?{family.after} She was"
    assert chosen.report()["chat template"] == f"of {folder}"


async def test_tgi_without_the_files_of_an_instruct_model_is_reported() -> None:
    async with tgi_servers.opened(model_kind="instruct") as both:
        described = await both.generator.describe_model()
        await tgi_servers.write(both.generator, prompt="Who?", max_tokens=2)
        (request,) = both.server.generations.accepted
        settings = GeneratorSettings(engine="tgi", url=both.server.url, model_kind="instruct")
        found = await probed(settings)
    assert found["chat template"].startswith("missing (the files of lab-lm are not on this machine")
    assert (request.inputs, described.kind) == ("Who?", ModelKind.INSTRUCT)
    assert described.prompt_profile == "scaar"
