"""Policies on Ollama, whose chats return log-probabilities and whose completions do not."""

from pathlib import Path

import pytest

from reference.servers import as_documented, documented_capabilities
from scaar.generator.settings import GeneratorSettings
from scaar.testing.server_probe import probed

from ..servers.lab_answers import POLICIES, WITHOUT_LOGPROBS, different_answers
from ..servers.ollama.ollama_server import CONTEXT, OllamaServer

COUNT = 10


@pytest.mark.parametrize(
    ("policy", "openai_api"),
    [
        *((policy, "chat") for policy in POLICIES),
        *((policy, "completions") for policy in WITHOUT_LOGPROBS),
    ],
)
def test_questions_are_answered_as_by_the_embedded_engine(
    ollama: OllamaServer, lab_home: Path, policy: str, openai_api: str
) -> None:
    generator = {
        "url": ollama.url,
        "model": ollama.model,
        "openai_api": openai_api,
        "max_total_tokens": str(CONTEXT),
    }
    assert not different_answers(lab_home, policy=policy, generator=generator, count=COUNT)


@pytest.mark.parametrize("openai_api", ["completions", "chat"])
async def test_the_capabilities_are_those_of_the_documentation(
    ollama: OllamaServer, openai_api: str
) -> None:
    settings = {"engine": "openai", "url": ollama.url, "model": ollama.model}
    found = await probed(
        GeneratorSettings.model_validate(
            {**settings, "prompt_profile": "lab", "openai_api": openai_api, "read_timeout_s": 300}
        )
    )
    assert documented_capabilities(f"Ollama, {openai_api}") == as_documented(found)
