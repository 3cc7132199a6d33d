"""Ollama's interface, from streams in the format of its documentation.

Its chats report thoughts in ``reasoning`` and log-probabilities as OpenAI's; its completions have
no log-probabilities. A model is listed with its tag and answers without it.
"""

from collections.abc import Sequence

import pytest

from scaar.core.types import Capability, ContinuationKind, FinishReason
from scaar.generator.factory import open_generator

from .openai_servers import end_of, settings_of, text_of, tokens_of, write
from .scripted_openai import Json, ScriptedServer, serving

pytestmark = pytest.mark.slow

ANSWER = (("Ada", -0.2), (" Ler", -0.01), (".", -0.5))
THOUGHTS = (("The", -2.0), (" user", -3.0))
COMMON: Json = {"id": "chatcmpl-7", "created": 1_764_000_000, "model": "qwen3:latest"}
COMMON |= {"system_fingerprint": "fp_ollama"}


def chunk(delta: Json, logprob: float | None, *, reason: str | None = None) -> Json:
    choice: Json = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}
    if logprob is not None:
        text = delta.get("reasoning") or delta["content"]
        entry = {"token": text, "logprob": logprob, "bytes": list(text.encode())}
        choice["logprobs"] = {"content": [{**entry, "top_logprobs": []}]}
    return {**COMMON, "object": "chat.completion.chunk", "choices": [choice]}


def chat(*, thinks: bool) -> list[Json]:
    thoughts = THOUGHTS if thinks else ()
    usage = {"prompt_tokens": 21, "completion_tokens": len(thoughts) + 4, "total_tokens": 25}
    return [
        *(chunk({"content": "", "reasoning": text}, logprob) for text, logprob in thoughts),
        *(chunk({"content": text}, logprob) for text, logprob in ANSWER),
        chunk({"content": ""}, None, reason="stop"),
        {**COMMON, "object": "chat.completion.chunk", "choices": [], "usage": usage},
    ]


def completion() -> list[Json]:
    head = {**COMMON, "object": "text_completion"}
    choices = [{"text": text, "index": 0, "finish_reason": None} for text, _ in ANSWER]
    choices.append({"text": "", "index": 0, "finish_reason": "stop"})
    return [{**head, "choices": [choice]} for choice in choices]


def ollama(chunks: Sequence[Json]) -> ScriptedServer:
    return ScriptedServer("qwen3:latest", "library", chunks=chunks)


@pytest.mark.parametrize("thinks", [False, True])
async def test_a_chat_has_the_answer_with_its_log_probabilities(thinks: bool) -> None:
    async with (
        serving(ollama(chat(thinks=thinks))) as server,
        open_generator(settings_of(server.url, model="qwen3", openai_api="chat")) as generator,
    ):
        model = await generator.describe_model()
        assert (model.model, model.continuation) == ("qwen3", ContinuationKind.NATIVE)
        assert model.capabilities == {
            Capability.LOGPROBS,
            Capability.SAMPLING,
            Capability.SEED,
            Capability.SYSTEM_TURN,
        }
        events = await write(generator)
    assert text_of(events) == "Ada Ler."
    assert [token.logprob for token in tokens_of(events)] == [logprob for _, logprob in ANSWER]
    end = end_of(events)
    assert (end.finish_reason, end.prompt_tokens) == (FinishReason.END_OF_SEQUENCE, 21)
    assert (end.generated_tokens, end.thinking_tokens) == (4, 2 if thinks else 0)
    bodies = [body for _, body in server.requests]
    assert all(body["reasoning_effort"] == "none" for body in bodies)
    assert not any("max_completion_tokens" in body for body in bodies)


async def test_a_completion_has_no_log_probabilities_and_no_usage() -> None:
    async with (
        serving(ollama(completion())) as server,
        open_generator(settings_of(server.url, model="qwen3")) as generator,
    ):
        capabilities = (await generator.describe_model()).capabilities
        assert capabilities == {Capability.SAMPLING, Capability.SEED}
        events = await write(generator)
    assert text_of(events) == "Ada Ler."
    end = end_of(events)
    assert (end.prompt_tokens, end.generated_tokens) == (0, 3)
