"""The lab's language model continues concurrent generations together, each with its own numbers."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any

import pytest

from scaar.core.errors import BackendUnavailable
from scaar.core.types import GenerateRequest, GenerationEnd, GenerationStart, Token
from scaar.generator.engines.decoding.generator import DecodingGenerator
from scaar.generator.engines.onnx import open_onnx_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab import layout
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab.questions import draw_questions
from scaar.lab.world import World

MAX_BATCH = 6
Opened = AbstractAsyncContextManager[tuple[DecodingGenerator, "WatchedBatch"]]


class WatchedBatch:
    """Wraps the batch of a generator. ``sizes`` has the number of rows of every run."""

    def __init__(self, batch: Any) -> None:
        self._batch = batch
        self.sizes: list[int] = []
        self.error: Exception | None = None
        self.running = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    def step(self, tokens: Sequence[int], *, attention: bool = False) -> Any:
        self.sizes.append(len(tokens))
        self.running.set()
        assert self.go_on.wait(30)
        if self.error is not None:
            raise self.error
        return self._batch.step(tokens, attention=attention)


@pytest.fixture
def opened() -> Callable[..., Opened]:
    @asynccontextmanager
    async def open_watched(
        max_batch: int = MAX_BATCH,
    ) -> AsyncIterator[tuple[DecodingGenerator, WatchedBatch]]:
        settings = GeneratorSettings(model=str(model_folder(LAB_LM)), max_batch=max_batch)
        async with open_onnx_generator(settings) as generator:
            batcher: Any = generator._batcher
            watched = WatchedBatch(batcher._batch)
            batcher._batch = watched
            yield generator, watched

    return open_watched


@pytest.fixture
def prompts(world: World) -> list[str]:
    """Prompts of different lengths."""
    drawn = draw_questions(world, count=40)
    return [layout.prompt(each.question, []) for each in drawn]


async def write(
    generator: DecodingGenerator, prompt: str, **settings: Any
) -> tuple[list[Token], GenerationEnd]:
    request = GenerateRequest(prompt, **{"max_tokens": 30, "top_tokens": 3} | settings)
    events = [event async for event in generator.generate(request)]
    assert isinstance(events[-1], GenerationEnd)
    return [event for event in events if isinstance(event, Token)], events[-1]


def assert_same(
    one: tuple[list[Token], GenerationEnd], other: tuple[list[Token], GenerationEnd]
) -> None:
    """Check that text and counts are equal, and numbers within 1e-4."""
    (first, first_end), (second, second_end) = one, other
    assert [(each.id, each.text, each.start) for each in first] == [
        (each.id, each.text, each.start) for each in second
    ]
    for left, right in zip(first, second, strict=True):
        assert left.logprob == pytest.approx(right.logprob, abs=1e-4)
        assert left.entropy == pytest.approx(right.entropy, abs=1e-4)
        assert left.attention == pytest.approx(right.attention, abs=1e-4)
        assert [each.id for each in left.top] == [each.id for each in right.top]
    assert first_end.finish_reason is second_end.finish_reason
    assert first_end.generated_tokens == second_end.generated_tokens


async def alone(prompts: Sequence[str], **settings: Any) -> list[tuple[list[Token], GenerationEnd]]:
    single = GeneratorSettings(model=str(model_folder(LAB_LM)))
    async with open_onnx_generator(single) as generator:
        return [await write(generator, prompt, **settings) for prompt in prompts]


@pytest.mark.parametrize("settings", [{}, {"attention": True}, {"temperature": 0.7, "seed": 5}])
async def test_concurrent_generations_write_as_alone(
    opened: Callable[..., Opened], prompts: list[str], settings: dict[str, Any]
) -> None:
    expected = await alone(prompts, **settings)
    async with opened() as (generator, watched):
        for _ in range(2):  # the second time from the cache
            together = await asyncio.gather(
                *(write(generator, prompt, **settings) for prompt in prompts[:16])
            )
            for found, wanted in zip(together, expected, strict=False):
                assert_same(found, wanted)
    assert set(watched.sizes) <= set(range(2, MAX_BATCH + 1))
    assert max(watched.sizes) > 2


async def test_generations_join_and_leave_at_any_token(
    opened: Callable[..., Opened], prompts: list[str]
) -> None:
    lengths = [1, 30, 3, 17, 2, 9, 25, 5]
    expected = [
        (await alone([prompt], max_tokens=length))[0]
        for prompt, length in zip(prompts, lengths, strict=False)
    ]
    async with opened() as (generator, watched):

        async def later(number: int) -> tuple[list[Token], GenerationEnd]:
            await asyncio.sleep(number / 200)
            return await write(generator, prompts[number], max_tokens=lengths[number])

        together = await asyncio.gather(*(later(number) for number in range(len(lengths))))
    for found, wanted in zip(together, expected, strict=True):
        assert_same(found, wanted)
    assert watched.rows == []


async def test_a_generation_by_itself_does_not_use_the_batch(
    opened: Callable[..., Opened], prompts: list[str]
) -> None:
    (expected,) = await alone(prompts[:1])
    async with opened() as (generator, watched):
        found = await write(generator, prompts[0])
    assert found == expected
    assert watched.sizes == []


async def test_a_cancelled_generation_leaves_the_batch_at_once(
    opened: Callable[..., Opened], prompts: list[str]
) -> None:
    (expected,) = await alone(prompts[:1])
    async with opened() as (generator, watched):
        watched.go_on.clear()
        kept = asyncio.create_task(write(generator, prompts[0]))
        others = [asyncio.create_task(write(generator, each)) for each in prompts[1:4]]
        await asyncio.to_thread(watched.running.wait, 30)
        for each in others:
            each.cancel()
        await asyncio.wait(others)
        runs = len(watched.sizes)
        watched.go_on.set()
        assert_same(await kept, expected)
        # The run in progress ends; after it, the remaining generation is by itself.
        assert len(watched.sizes) == runs


async def test_a_slow_reader_does_not_hold_the_others(
    opened: Callable[..., Opened], prompts: list[str]
) -> None:
    (expected,) = await alone(prompts[:1])
    async with opened() as (generator, _):
        request = GenerateRequest(prompts[0], max_tokens=30, top_tokens=3)
        async with aclosing(generator.generate(request)) as slow:
            assert isinstance(await anext(slow), GenerationStart)
            read: list[Any] = [await anext(slow) for _ in range(3)]
            # It stays here, unread, while the others write their whole texts.
            await asyncio.gather(*(write(generator, prompt) for prompt in prompts[1:5]))
            read += [event async for event in slow]
    assert_same((read[:-1], read[-1]), expected)


async def test_an_error_of_a_run_is_that_of_its_generations_and_the_next_ones_succeed(
    opened: Callable[..., Opened], prompts: list[str]
) -> None:
    expected = await alone(prompts[:3])
    async with opened() as (generator, watched):
        watched.error = BackendUnavailable("the decoder failed")
        outcomes = await asyncio.gather(
            *(write(generator, prompt) for prompt in prompts[:3]), return_exceptions=True
        )
        # One may be by itself after the others have failed.
        failed = [each for each in outcomes if isinstance(each, BaseException)]
        assert len(failed) >= 2
        assert all(isinstance(each, BackendUnavailable) for each in failed)
        watched.error = None
        together = await asyncio.gather(*(write(generator, prompt) for prompt in prompts[:3]))
    for found, wanted in zip(together, expected, strict=True):
        assert_same(found, wanted)


async def test_hidden_states_are_computed_outside_the_batch(
    opened: Callable[..., Opened], prompts: list[str]
) -> None:
    expected = await alone(prompts[:3], hidden_layer=1)
    async with opened() as (generator, watched):
        together = await asyncio.gather(
            *(write(generator, prompt, hidden_layer=1) for prompt in prompts[:3])
        )
    assert together == expected
    assert watched.sizes == []
