"""Policies on transformers serve, which returns text without tokens and log-probabilities."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from reference.servers import as_documented, documented_capabilities
from scaar.core.errors import NotFound
from scaar.generator.engines.openai import open_openai_generator
from scaar.generator.settings import GeneratorSettings
from scaar.testing.server_probe import probed

from ..servers.lab_answers import (
    WITHOUT_LOGPROBS,
    answer_questions,
    different_answers,
    lab_data,
)
from ..servers.transformers_serve.transformers_server import TransformersServer
from .held_stream import holding_streams

COUNT = 10


def settings_for(url: str, **fields: Any) -> GeneratorSettings:
    """Settings of the engine over the server."""
    given = {"engine": "openai", "url": url, "prompt_profile": "lab", "read_timeout_s": 300}
    return GeneratorSettings.model_validate(given | fields)


@pytest.fixture(scope="module")
def lab_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the lab's index."""
    return lab_data(tmp_path_factory.mktemp("scaar"))


@pytest.mark.parametrize("openai_api", ["completions", "chat"])
async def test_the_probe_reads_no_more_than_the_first_text(
    pinned: TransformersServer, openai_api: str
) -> None:
    async with asyncio.timeout(120), holding_streams(pinned.url) as held:
        async with open_openai_generator(settings_for(held.url, openai_api=openai_api)) as opened:
            assert (await opened.describe_model()).model == pinned.model
        await held.closed.wait()
    assert held.held == 1


@pytest.mark.parametrize("openai_api", ["completions", "chat"])
async def test_the_capabilities_are_those_of_the_documentation(
    pinned: TransformersServer, openai_api: str
) -> None:
    found = await probed(settings_for(pinned.url, openai_api=openai_api))
    documented = documented_capabilities(f"transformers serve, {openai_api}")
    assert documented == as_documented(found)


async def test_a_model_that_is_not_listed_is_tried(unpinned: TransformersServer) -> None:
    with pytest.raises(NotFound, match="lists no model; set SCAAR_GENERATOR_MODEL to the name"):
        async with open_openai_generator(settings_for(unpinned.url)):
            pass
    settings = settings_for(unpinned.url, model=unpinned.model)
    async with open_openai_generator(settings) as generator:
        assert (await generator.describe_model()).model == unpinned.model


@pytest.mark.parametrize("policy", WITHOUT_LOGPROBS)
def test_questions_are_answered_as_by_the_embedded_engine(
    pinned: TransformersServer, lab_home: Path, policy: str
) -> None:
    generator = {"url": pinned.url}
    assert not different_answers(lab_home, policy=policy, generator=generator, count=COUNT)


@pytest.mark.parametrize("policy", ["scaar", "flare"])
def test_a_policy_without_log_probabilities_is_rejected_with_those_that_work(
    pinned: TransformersServer, lab_home: Path, policy: str
) -> None:
    generator = {"url": pinned.url}
    records = answer_questions(lab_home, policy=policy, count=COUNT, generator=generator)
    assert {each["error"]["reason"] for each in records} == {"CAPABILITY_MISSING"}
    [message] = {each["error"]["message"] for each in records}
    assert f"policy {policy} needs logprobs" in message
    named = message.partition("policies that this model can serve: ")[2].split(", ")
    assert set(WITHOUT_LOGPROBS) < set(named)
    for other in named:
        answers = answer_questions(lab_home, policy=other, count=2, generator=generator)
        assert all("answer" in each for each in answers), (other, answers)
