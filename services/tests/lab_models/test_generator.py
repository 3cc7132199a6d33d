"""The lab's language model reads nothing twice, and a long prompt lets others write."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from scaar.core.types import GenerateRequest, GenerationEnd, GenerationStart, Token
from scaar.generator.engines.decoding import prefill
from scaar.generator.engines.decoding.generator import DecodingGenerator
from scaar.generator.engines.decoding.language_model import LanguageModel, open_language_model
from scaar.generator.engines.decoding.onnx_decoder import Array, Cache, DecoderSession
from scaar.generator.engines.decoding.prefix_store import PrefixStore
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab.passages import passages_of
from scaar.lab.world import World

QUESTION = "Question: Who directed the film The Haunted Fountain?\nAnswer:"


class Watched:
    """The model's decoder; ``reads`` says how many tokens each of its steps was given.

    A token that is written comes with the one before it.
    """

    def __init__(self, decoder: DecoderSession) -> None:
        self._decoder = decoder
        self.reads: list[int] = []
        self.gives_attention = decoder.gives_attention
        self.hidden_layers = None

    def begin(self) -> Cache:
        return self._decoder.begin()

    def step(self, ids: Sequence[int], cache: Cache) -> tuple[Array, Cache]:
        self.reads.append(len(ids))
        return self._decoder.step(ids, cache)


Opened = AbstractAsyncContextManager[tuple[DecodingGenerator, Watched]]


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return open_language_model(model_folder(LAB_LM), threads=1)


@pytest.fixture
def opened(model: LanguageModel) -> Callable[..., Opened]:
    """Open a generator with one worker and a store of the given number of bytes."""

    @asynccontextmanager
    async def open_watched(store_bytes: int) -> AsyncIterator[tuple[DecodingGenerator, Watched]]:
        watched: Any = Watched(model.decoder)
        with ThreadPoolExecutor(1) as executor:
            watching = replace(model, decoder=watched)
            store = PrefixStore(store_bytes)
            yield (
                DecodingGenerator(watching, executor, store, engine="onnx", max_concurrent=8),
                watched,
            )

    return open_watched


@pytest.fixture(scope="module")
def passages(world: World) -> list[str]:
    """Passages of the lab's world, more than a thousand tokens of them."""
    return [passage.text for passage in itertools.islice(passages_of(world), 60)]


def prompt_of(passages: Sequence[str]) -> str:
    lines = "".join(f"[{number}] {text}\n" for number, text in enumerate(passages, 1))
    return f"Context:\n{lines}{QUESTION}"


async def write(
    generator: DecodingGenerator, prompt: str, so_far: Sequence[Token] = (), max_tokens: int = 12
) -> tuple[list[Token], GenerationEnd]:
    request = GenerateRequest(
        prompt,
        prefix="".join(token.text for token in so_far),
        prefix_token_ids=tuple(token.id for token in so_far),
        max_tokens=max_tokens,
    )
    events = [event async for event in generator.generate(request)]
    assert isinstance(events[-1], GenerationEnd)
    return [event for event in events if isinstance(event, Token)], events[-1]


def assert_alike(one: Sequence[Token], other: Sequence[Token]) -> None:
    assert [token.id for token in one] == [token.id for token in other]
    for left, right in zip(one, other, strict=True):
        assert left.logprob == pytest.approx(right.logprob, abs=1e-6)
        assert left.entropy == pytest.approx(right.entropy, abs=1e-6)


async def test_a_draft_after_a_regeneration_reads_only_what_was_written_anew(
    opened: Callable[..., Opened], passages: list[str]
) -> None:
    prompt, with_passage = prompt_of(passages[:12]), prompt_of(passages[12:14])
    async with opened(64_000_000) as (generator, watched):
        draft, end = await write(generator, prompt)
        assert end.prompt_tokens > 256
        assert sum(watched.reads) == end.prompt_tokens + 2 * (len(draft) - 1)
        sentence, _ = await write(generator, with_passage)
        assert [token.id for token in sentence] != [token.id for token in draft]
        watched.reads.clear()
        found, end = await write(generator, prompt, sentence, max_tokens=4)
        shared = sum(
            1
            for _ in itertools.takewhile(
                lambda pair: pair[0].id == pair[1].id, zip(sentence, draft, strict=True)
            )
        )
        assert watched.reads[0] == len(sentence) - shared
        assert watched.reads[1:] == [2] * (len(found) - 1)
    async with opened(0) as (plain, watched):
        read, plain_end = await write(plain, prompt, sentence, max_tokens=4)
        assert sum(watched.reads) == end.prompt_tokens + 2 * (len(read) - 1)
    assert_alike(found, read)
    assert end == plain_end


async def test_a_long_prompt_is_read_in_chunks_to_the_same_end(
    opened: Callable[..., Opened], passages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = prompt_of(passages)
    async with opened(0) as (generator, watched):
        chunks, end = await write(generator, prompt)
        assert end.prompt_tokens > 1000
        whole, rest = divmod(end.prompt_tokens, 256)
        assert watched.reads == [256] * whole + [rest] * bool(rest) + [2] * (len(chunks) - 1)
        watched.reads.clear()
        monkeypatch.setattr(prefill, "CHUNK_TOKENS", 8192)
        at_once, _ = await write(generator, prompt)
        assert watched.reads[0] == end.prompt_tokens
    assert_alike(chunks, at_once)


async def test_a_stream_under_way_writes_a_token_between_the_chunks_of_a_long_prompt(
    opened: Callable[..., Opened], passages: list[str]
) -> None:
    async with (
        opened(0) as (generator, watched),
        aclosing(generator.generate(GenerateRequest(QUESTION))) as short,
    ):
        assert isinstance(await anext(short), GenerationStart)
        watched.reads.clear()
        long = asyncio.create_task(write(generator, prompt_of(passages), max_tokens=1))
        async for _ in short:
            if long.done():
                break
        await long
    # The text of the short stream is long enough to be there from the first chunk to the last.
    chunks = [at for at, tokens in enumerate(watched.reads) if tokens > 2]
    assert len(chunks) >= 4
    assert {two - one for one, two in itertools.pairwise(chunks)} == {2}


async def test_generations_with_beginnings_in_common_are_each_their_own(
    opened: Callable[..., Opened], passages: list[str]
) -> None:
    prompts = [prompt_of(passages[:count]) for count in (1, 2, 3, 5)]
    async with opened(0) as (plain, _):
        alone = [await write(plain, prompt, max_tokens=20) for prompt in prompts]
    async with opened(1_500_000) as (generator, _):  # too little for all of them
        for _ in range(3):
            together = await asyncio.gather(
                *(write(generator, prompt, max_tokens=20) for prompt in prompts)
            )
            for (tokens, end), (expected, expected_end) in zip(together, alone, strict=True):
                assert_alike(tokens, expected)
                assert end == expected_end
