"""The engine reads nothing twice: counted in the tokens that the decoder is given.

No step is of one token alone, so a token that is read or written singly comes with the one before.
"""

import asyncio
from contextlib import aclosing

import pytest

from scaar.core.types import GenerateRequest, GenerationStart, Token
from scaar.generator.engines.onnx import open_onnx_generator
from scaar.generator.settings import GeneratorSettings

PROMPT = "Question: Who directed the film?\nAnswer:"


@pytest.fixture
def opened(language_model_folder):
    """Opens the random model; one worker, so that what runs first was asked for first."""

    def open_random(**settings):
        return open_onnx_generator(
            GeneratorSettings(model=language_model_folder, workers=1, **settings)
        )

    return open_random


async def generate(generator, **fields):
    request = GenerateRequest(fields.pop("prompt", PROMPT), **fields)
    return [event async for event in generator.generate(request)]


def going_on(tokens):
    """Return the fields of a request that continues these tokens."""
    return {
        "prefix": "".join(token.text for token in tokens),
        "prefix_token_ids": tuple(token.id for token in tokens),
    }


def tokens_of(events):
    return [event for event in events if isinstance(event, Token)]


def numbers(events):
    return [
        (token.id, token.text, pytest.approx(token.logprob, abs=1e-5))
        for token in tokens_of(events)
    ]


async def test_a_longer_prefix_is_read_from_where_the_last_text_ended(opened, watch):
    async with opened() as generator:
        watched = watch(generator)
        start, *_ = first = await generate(generator, max_tokens=6)
        assert watched.tokens == start.prompt_tokens + 5 * 2
        watched.reads.clear()
        await generate(generator, **going_on(tokens_of(first)), max_tokens=3)
    # The last token written was never read: what follows it was not requested.
    assert watched.reads[0] == [token.id for token in tokens_of(first)[-2:]]
    assert watched.tokens == 3 * 2


async def test_another_prefix_is_read_from_where_it_differs(opened, watch):
    async with opened() as generator:
        watched = watch(generator)
        start, *_ = first = await generate(generator, max_tokens=8)
        watched.reads.clear()
        watched.pasts.clear()
        shared = going_on(tokens_of(first)[:4])
        await generate(
            generator,
            prefix=shared["prefix"] + " film film",
            prefix_token_ids=(*shared["prefix_token_ids"], *ids_of(generator, " film film")),
            max_tokens=1,
        )
    assert watched.pasts == [start.prompt_tokens + 4]
    assert watched.reads == [ids_of(generator, " film film")]


async def test_the_same_request_reads_the_end_of_its_prompt_again(opened, watch):
    async with opened() as generator:
        watched = watch(generator)
        first = await generate(generator, max_tokens=4)
        watched.reads.clear()
        second = await generate(generator, max_tokens=4)
    assert [len(ids) for ids in watched.reads] == [2, 2, 2, 2]
    assert numbers(second) == numbers(first)
    assert second[0] == first[0], "the prompt counts whole, read or found"
    assert first[0].evaluated_tokens == first[0].prompt_tokens
    assert second[0].evaluated_tokens == second[-1].evaluated_tokens == 2


async def test_without_a_store_every_prompt_is_read_completely(opened, watch):
    async with opened(prefix_cache_mb=0) as generator:
        watched = watch(generator)
        start, *_ = await generate(generator, max_tokens=1)
        await generate(generator, max_tokens=1)
    assert watched.tokens == 2 * start.prompt_tokens


async def test_the_cache_of_a_closed_generation_is_reused(opened, watch):
    async with opened() as generator:
        watched = watch(generator)
        seen = []
        async with aclosing(generator.generate(GenerateRequest(PROMPT))) as events:
            async for event in events:
                seen += tokens_of([event])
                if len(seen) == 5:
                    break
        watched.reads.clear()
        await generate(generator, **going_on(seen), max_tokens=1)
    assert watched.reads == [[token.id for token in seen[-2:]]]


async def test_the_cache_of_a_cancelled_generation_is_reused(opened, watch):
    async with opened() as generator:
        watched = watch(generator)
        seen = []
        enough = asyncio.Event()

        async def read():
            async with aclosing(generator.generate(GenerateRequest(PROMPT))) as events:
                async for event in events:
                    seen.extend(tokens_of([event]))
                    if len(seen) == 5:
                        enough.set()
                        await asyncio.Event().wait()

        task = asyncio.create_task(read())
        await enough.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        watched.reads.clear()
        await generate(generator, **going_on(seen), max_tokens=1)
    assert watched.reads == [[token.id for token in seen[-2:]]]


async def test_a_prompt_is_found_while_the_text_after_it_is_written(opened, watch):
    async with opened() as generator:
        watched = watch(generator)
        async with aclosing(generator.generate(GenerateRequest(PROMPT))) as events:
            assert isinstance(await anext(events), GenerationStart)
            watched.reads.clear()
            await generate(generator, max_tokens=1)
            assert [len(ids) for ids in watched.reads] == [2]


@pytest.mark.parametrize("cut", [1, 5, 11])
async def test_tokens_and_probabilities_are_those_without_a_store(opened, cut):
    async with opened() as stored, opened(prefix_cache_mb=0) as plain:
        whole = tokens_of(await generate(stored, max_tokens=12))
        fields = {**going_on(whole[:cut]), "max_tokens": 20, "top_tokens": 2}
        found, read = await generate(stored, **fields), await generate(plain, **fields)
        assert numbers(found) == numbers(read)
        assert found[-1] == read[-1]


async def test_interleaved_generations_never_see_each_others_tokens(opened):
    prompts = [f"{PROMPT} {word}" for word in ("A", "B", "A film", "The", "The film was")]
    async with opened() as stored, opened(prefix_cache_mb=0) as plain:
        alone = [await generate(plain, prompt=prompt, max_tokens=12) for prompt in prompts]
        for _ in range(2):
            streams = [
                stored.generate(GenerateRequest(prompt, max_tokens=12)) for prompt in prompts
            ]
            together = [[] for _ in prompts]
            for _ in range(12 + 2):  # the start, the tokens, the end
                for events, stream in zip(together, streams, strict=True):
                    if (event := await anext(stream, None)) is not None:
                        events.append(event)
            assert [numbers(events) for events in together] == list(map(numbers, alone))
            for stream in streams:
                await stream.aclose()


async def test_an_open_generation_is_closed_after_its_generator(opened):
    async with opened() as generator:
        left = generator.generate(GenerateRequest(PROMPT))
        await anext(left)
    await left.aclose()


def ids_of(generator, text):
    return generator._model.encode_more(text)
