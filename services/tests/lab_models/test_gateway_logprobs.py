"""Log-probabilities through the gateway are those of the lab's model for the text."""

from typing import Any

import pytest
from openai import AsyncOpenAI

from scaar.compose import open_orchestrator
from scaar.core.prompts import profile_of
from scaar.core.types import LogprobsRequest
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.gateways import gateway_before

QUESTION = "When was the film The Velvet Statue released?"


async def test_tokens_have_the_log_probabilities_of_the_text() -> None:
    messages: Any = [{"role": "user", "content": QUESTION}]
    async with (
        open_orchestrator() as (loop, catalog),
        gateway_before(loop, catalog) as url,
        AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client,
    ):
        found = {
            policy: await client.chat.completions.create(
                model=f"scaar/{policy}", messages=messages, logprobs=True
            )
            for policy in ("no_retrieval", "scaar")
        }
    texts = dict[str, str]()
    tokens = dict[str, list[tuple[str, float]]]()
    for policy, completion in found.items():
        (choice,) = completion.choices
        assert choice.logprobs is not None
        tokens[policy] = [(each.token, each.logprob) for each in choice.logprobs.content or ()]
        texts[policy] = choice.message.content or ""
        assert "".join(token for token, _ in tokens[policy]) == texts[policy]
    assert texts["scaar"] != texts["no_retrieval"], "a sentence was written with passages"
    settings = GeneratorSettings(model=model_folder(LAB_LM))
    async with open_generator(settings) as generator:
        prompt = profile_of("lab").render(QUESTION)
        read = await generator.compute_logprobs(
            LogprobsRequest(prompt, f" {texts['no_retrieval']}")
        )
    expected = [(each.text, each.logprob) for each in read.tokens]
    given = tokens["no_retrieval"]
    assert [f" {given[0][0]}", *(text for text, _ in given[1:])] == [text for text, _ in expected]
    assert [each for _, each in given] == pytest.approx([each for _, each in expected], abs=1e-4)
