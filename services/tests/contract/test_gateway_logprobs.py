"""Log-probabilities of accepted text through the gateway, by OpenAI's client over sockets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionTokenLogprob

from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import Capability, GenerateRequest, ModelDescription, Passage
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import (
    SCRIPTED_MODEL,
    InMemoryRetriever,
    Piece,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.gateways import GATEWAY, abstaining_answer, gateway_before

QUESTION: Any = [{"role": "user", "content": "Where was Ada born?"}]
PASSAGES = (Passage("p1", "Ada", "Ada was born in Łódź."),)
DRAFTED = " Ada was born in Paris. She was a poet. So the answer is Paris."
WITH_PASSAGES = " Ada was born in Łódź."
REST = " She was a poet. So the answer is Łódź."
TEXT = (WITH_PASSAGES + REST).lstrip()
INCLUDE: Any = ["message.output_text.logprobs"]
SILENT = replace(SCRIPTED_MODEL, capabilities=frozenset({Capability.RESUME_BY_IDS}))


def script(request: GenerateRequest) -> list[Piece]:
    """Doubt the draft, and write another text with passages."""
    text = DRAFTED if not request.prefix else REST
    if "Context:" in request.prompt:
        text = WITH_PASSAGES + REST
    if request.prefix.endswith(" So the answer is"):
        text = " Łódź."
    words = [f" {word}" for word in text.split()]
    return [(word, -2.0 if word == " Paris." else -0.01 * at) for at, word in enumerate(words)]


@asynccontextmanager
async def asking(model: ModelDescription = SCRIPTED_MODEL) -> AsyncIterator[AsyncOpenAI]:
    ports = Ports(
        ScriptedGenerator(script, model=model),
        ScriptedScorer({"Ada": 0.15, "in": 0.1}),
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": PASSAGES}),
    )
    async with (
        gateway_before(AdaptiveLoop(ports, default_index="lab"), public_url=GATEWAY) as url,
        AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client,
    ):
        yield client


async def whole(client: AsyncOpenAI, **fields: Any) -> tuple[str, list[ChatCompletionTokenLogprob]]:
    """Return the text of a completion, and its tokens."""
    given = {"model": "scaar", "messages": QUESTION, "logprobs": True, **fields}
    (choice,) = (await client.chat.completions.create(**given)).choices
    assert choice.logprobs is not None
    assert choice.logprobs.content is not None
    return choice.message.content or "", choice.logprobs.content


async def streamed(
    client: AsyncOpenAI, **fields: Any
) -> tuple[str, list[ChatCompletionTokenLogprob]]:
    """Return the text of a stream, and its tokens; each chunk has the tokens of its own text."""
    given = {"model": "scaar", "messages": QUESTION, "logprobs": True, "stream": True, **fields}
    text, tokens = "", list[ChatCompletionTokenLogprob]()
    async for chunk in await client.chat.completions.create(**given):
        for choice in chunk.choices:
            found = (choice.logprobs and choice.logprobs.content) or []
            assert "".join(each.token for each in found) == (choice.delta.content or "")
            text += choice.delta.content or ""
            tokens += found
    return text, tokens


async def test_accepted_sentences_have_the_tokens_with_which_they_were_written() -> None:
    async with asking() as client:
        text, tokens = await whole(client)
        assert await streamed(client) == (text, tokens)
    assert text == TEXT
    # Those of the sentence that replaced the draft, then those of the drafts that were accepted.
    numbers = [*range(5), *range(9)]
    assert [(each.token, round(each.logprob, 6)) for each in tokens] == [
        (word if at == 0 else f" {word}", round(-0.01 * number, 6))
        for at, (word, number) in enumerate(zip(TEXT.split(), numbers, strict=True))
    ]
    assert bytes(byte for each in tokens for byte in each.bytes or ()).decode() == TEXT
    assert {len(each.top_logprobs) for each in tokens} == {0}


@pytest.mark.parametrize("ask", [whole, streamed])
@pytest.mark.parametrize(
    ("stop", "text", "last"),
    [
        ("So the", "Ada was born in Łódź. She was a poet. ", " "),
        ("She was not", TEXT, " Łódź."),
        ("ód", "Ada was born in Ł", " Ł"),
        ("Ada", "", None),
    ],
)
async def test_a_stop_sequence_cuts_the_last_token(
    ask: Any, stop: str, text: str, last: str | None
) -> None:
    async with asking() as client:
        if last is None:
            (choice,) = (
                await client.chat.completions.create(
                    model="scaar", messages=QUESTION, logprobs=True, stop=stop
                )
            ).choices
            assert (choice.message.content, choice.logprobs) == ("", None)
            return
        found, tokens = await ask(client, stop=stop)
    assert found == "".join(each.token for each in tokens) == text
    assert tokens[-1].token == last


@pytest.mark.parametrize("ask", [whole, streamed])
async def test_text_that_the_model_did_not_write_has_the_value_for_unlikely_tokens(
    ask: Any,
) -> None:
    async with asking() as client:
        fields = {"scaar": {"citations": "markdown", "budget": {"max_sentences": 1}}}
        text, tokens = await ask(client, extra_body=fields)
    assert "".join(each.token for each in tokens) == text
    unwritten = [each.token for each in tokens if each.logprob == -9999.0]
    assert unwritten == [
        " So the answer is",
        f"\n\nSources:\n\n1. [Ada]({GATEWAY}/passages/lab/p1)",
    ]


async def test_completions_have_none_unless_they_are_requested() -> None:
    async with asking() as client:
        for fields in ({}, {"logprobs": False, "top_logprobs": 0}):
            (choice,) = (
                await client.chat.completions.create(model="scaar", messages=QUESTION, **fields)
            ).choices
            assert choice.logprobs is None


async def test_a_refusal_has_none() -> None:
    async with (
        gateway_before(ScriptedAnswerer(abstaining_answer)) as url,
        AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client,
    ):
        (choice,) = (
            await client.chat.completions.create(model="scaar", messages=QUESTION, logprobs=True)
        ).choices
    assert choice.message.refusal
    assert choice.logprobs is None


async def test_responses_have_the_same_tokens() -> None:
    async with asking() as client:
        _, tokens = await whole(client)
        response = await client.responses.create(
            model="scaar", input="Where was Ada born?", include=INCLUDE
        )
        deltas = list[Any]()
        async with client.responses.stream(
            model="scaar", input="Where was Ada born?", include=INCLUDE
        ) as stream:
            async for event in stream:
                if event.type == "response.output_text.delta":
                    assert "".join(each.token for each in event.logprobs) == event.delta
                    deltas += event.logprobs
                if event.type == "response.output_text.done":
                    assert [each.token for each in event.logprobs] == [e.token for e in tokens]
            final = await stream.get_final_response()
        plain = await client.responses.create(model="scaar", input="Where was Ada born?")
    expected = [(each.token, each.logprob) for each in tokens]
    assert [(each.token, each.logprob) for each in deltas] == expected
    for found in (response, final):
        (part,) = found.output[0].content  # type: ignore[union-attr]
        assert part.type == "output_text"
        assert [(each.token, each.logprob) for each in part.logprobs or ()] == expected
    assert plain.output[0].content[0].logprobs == []  # type: ignore[union-attr]


async def test_a_model_without_log_probabilities_is_an_error_that_names_the_field() -> None:
    policy = "scaar/no_retrieval"
    async with asking(SILENT) as client:
        for stream in (False, True):
            with pytest.raises(openai.BadRequestError, match="gives no log-prob") as raised:
                await client.chat.completions.create(
                    model=policy, messages=QUESTION, logprobs=True, stream=stream
                )
            assert (raised.value.code, raised.value.param) == ("CAPABILITY_MISSING", "logprobs")
            with pytest.raises(openai.BadRequestError, match="gives no log-prob") as raised:
                await client.responses.create(
                    model=policy, input="Where was Ada born?", include=INCLUDE, stream=stream
                )
            assert (raised.value.code, raised.value.param) == ("CAPABILITY_MISSING", "include")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"include": ["file_search_call.results"]}, "include.0"),
        ({"include": INCLUDE, "top_logprobs": 3}, "top_logprobs"),
    ],
)
async def test_what_responses_cannot_include_is_named(fields: Any, param: str) -> None:
    async with asking() as client:
        with pytest.raises(openai.BadRequestError) as raised:
            await client.responses.create(model="scaar", input="Where was Ada born?", **fields)
    assert raised.value.param == param
