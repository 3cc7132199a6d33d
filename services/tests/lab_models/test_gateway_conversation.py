"""A conversation of four turns through the gateway, by OpenAI's client."""

from typing import Any

import pytest
from openai import AsyncOpenAI

from scaar.compose import open_orchestrator
from scaar.testing.gateways import gateway_before

TURNS = (
    ("Who directed the film The Velvet Statue?", "", "Yamon Fenberg"),
    ("And which country is he from?", "Which country is Yamon Fenberg from?", "Loronia"),
    (
        "When was the film The Haunted Fountain released?",
        "When was the film The Haunted Fountain released?",
        "1951",
    ),
    ("And who directed it?", "Who directed the film The Haunted Fountain?", "Borric Torford"),
)


async def test_a_follow_up_is_answered_from_the_passages_of_its_standalone_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "lab-lm-chat")
    async with (
        open_orchestrator() as (loop, catalog),
        gateway_before(loop, catalog) as url,
        AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client,
    ):
        messages: list[Any] = [{"role": "system", "content": "Answer in English."}]
        for question, standalone, short in TURNS:
            messages.append({"role": "user", "content": question})
            found = await client.chat.completions.create(model="scaar/flare", messages=messages)
            extra = (found.model_extra or {})["scaar"]
            assert (extra.get("question", ""), extra["answer"]) == (standalone, short)
            message = found.choices[0].message
            assert message.annotations
            messages.append({"role": "assistant", "content": message.content})
