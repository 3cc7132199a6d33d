"""A chat model behind a server that completes texts: what goes to it is the rendered chat."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.types import Capability
from scaar.generator.engines.openai import open_openai_generator
from scaar.generator.engines.tgi import open_tgi_generator
from scaar.generator.settings import GeneratorSettings
from scaar.testing.chat_templates import FAMILIES, Family

from . import openai_servers, tgi_servers

SETTING = "SCAAR_GENERATOR_CHAT_TEMPLATE_FILE"
each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@each_family
@pytest.mark.parametrize("prefix", ["", " The film was"])
async def test_tgi_is_sent_the_rendered_text_and_the_beginning_of_the_answer(
    family: Family, prefix: str, tmp_path: Path
) -> None:
    folder = family.put(tmp_path)
    async with tgi_servers.opened(chat_template_file=folder) as both:
        await tgi_servers.write(both.generator, prompt="Who?", prefix=prefix, max_tokens=2)
        (request,) = both.server.generations.accepted
    assert request.inputs == f"{family.before}Who?{family.after}{prefix}"


@each_family
async def test_so_is_a_server_of_openais_that_completes(family: Family, tmp_path: Path) -> None:
    folder = family.put(tmp_path, own_file=True)
    async with openai_servers.opened(chat_template_file=folder) as both:
        await openai_servers.write(both.generator, prompt="Who?", prefix=" He", max_tokens=2)
        (request,) = both.server.generations.accepted
    assert request.prompt + request.prefix == f"{family.before}Who?{family.after} He"


@each_family
async def test_text_of_the_system_has_the_turn_of_the_template(
    family: Family, tmp_path: Path
) -> None:
    folder = family.put(tmp_path)
    asked: dict[str, Any] = {"system": "Be brief.", "prompt": "Who?", "max_tokens": 2}
    async with tgi_servers.opened(chat_template_file=folder) as both:
        described = await both.generator.describe_model()
        assert (Capability.SYSTEM_TURN in described.capabilities) == (family.system is not None)
        if family.system is None:
            with pytest.raises(CapabilityMissing, match="system needs the capability system_turn"):
                await tgi_servers.write(both.generator, **asked)
            return
        await tgi_servers.write(both.generator, **asked)
        hostile = {"system": " and ".join(family.markers)}
        await tgi_servers.write(both.generator, **{**asked, **hostile})
        request, second = both.server.generations.accepted
    before, after = family.system
    assert request.inputs == f"{before}Be brief.{after}Who?{family.after}"
    for marker in family.markers:
        assert second.inputs.count(marker) == request.inputs.count(marker), marker


@each_family
async def test_neither_prompt_nor_prefix_can_end_its_turn(family: Family, tmp_path: Path) -> None:
    async with tgi_servers.opened(chat_template_file=family.put(tmp_path)) as both:
        hostile = "Who? " + " and ".join(family.markers)
        await tgi_servers.write(both.generator, prompt=hostile, prefix=hostile, max_tokens=2)
        (request,) = both.server.generations.accepted
    around = family.before + family.after
    for marker in family.markers:
        assert request.inputs.count(marker) == around.count(marker), marker


async def test_a_tokenizer_that_adds_no_token_is_sent_the_templates(tmp_path: Path) -> None:
    mistral = FAMILIES[2]
    bare = replace(mistral, config={**mistral.config, "add_bos_token": False})
    folder = bare.put(tmp_path)
    async with tgi_servers.opened(chat_template_file=folder) as both:
        await tgi_servers.write(both.generator, prompt="Who?", max_tokens=2)
        (request,) = both.server.generations.accepted
    assert request.inputs == "<s>[INST] Who? [/INST]"


@pytest.mark.parametrize("opening", [open_tgi_generator, open_openai_generator])
@pytest.mark.parametrize(
    ("template", "message"),
    [
        (None, "does not exist"),
        ("", "has no chat template"),
        ("{{ raise_exception('never') }}", "fails: never"),
        ("nothing", "must contain the user's text exactly once"),
    ],
)
async def test_an_invalid_template_is_reported_before_any_request(
    opening: Any, template: str | None, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "chat_template.jinja"
    if template is not None:
        file.write_text(template)
    settings = GeneratorSettings(url="http://127.0.0.1:1", chat_template_file=file)
    with pytest.raises(InvalidRequest, match=message) as caught:
        async with opening(settings):
            pass
    assert [each.field for each in caught.value.violations] == [SETTING]


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "requires engine tgi or openai, but the engine is onnx"),
        (
            {"engine": "openai", "url": "http://127.0.0.1:1", "openai_api": "chat"},
            "must not be set with openai_api chat: the server applies its own template",
        ),
    ],
)
def test_a_template_that_would_have_no_effect_is_refused(
    variables: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**variables, "chat_template_file": "/template"}.items():
        monkeypatch.setenv(f"SCAAR_GENERATOR_{name.upper()}", value)
    with pytest.raises(InvalidRequest) as caught:
        GeneratorSettings.read()
    assert [str(each) for each in caught.value.violations] == [f"{SETTING}: {message}"]
