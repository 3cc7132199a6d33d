"""Generations given again, over a generator that tells what it was asked."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from scaar.core.errors import BackendUnavailable
from scaar.core.types import (
    FinishReason,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    GenerationStart,
    Token,
)
from scaar.evaluator.execution.generation_cache import CachedGenerator
from scaar.testing.fakes import SAMPLED_MODEL, ScriptedGenerator

TOKENS = tuple(Token(number, f" w{number}", 3 * number, 3 * number + 3) for number in range(4))
WHOLE = (
    GenerationStart(5),
    *TOKENS,
    GenerationEnd(FinishReason.END_OF_SEQUENCE, prompt_tokens=5, generated_tokens=4),
)
REQUEST = GenerateRequest("Q:")


class RecordingGenerator(ScriptedGenerator):
    """Writes the same for every request, and tells how far it was followed."""

    def __init__(self, fails_at: int | None = None) -> None:
        super().__init__(lambda _: [])
        self.received: list[tuple[GenerateRequest, int]] = []
        self._fails_at = fails_at

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        self.received.append((request, 0))
        at = len(self.received) - 1
        for number, event in enumerate(WHOLE):
            if number == self._fails_at:
                raise BackendUnavailable("the model is gone")
            self.received[at] = (request, number + 1)
            yield event


async def read(
    kept: CachedGenerator, request: GenerateRequest = REQUEST, *, most: int = 99
) -> list[GenerationEvent]:
    found: list[GenerationEvent] = []
    async with aclosing(kept.generate(request)) as events:
        async for event in events:
            found.append(event)
            if len(found) == most:
                break
    return found


async def test_what_was_generated_is_given_again_without_asking() -> None:
    generator = RecordingGenerator()
    kept = CachedGenerator(generator)
    assert await read(kept) == list(WHOLE)
    assert await read(kept) == list(WHOLE)
    assert await read(kept, most=2) == list(WHOLE[:2])
    assert [request for request, _ in generator.received] == [REQUEST]


async def test_an_abandoned_generation_stops_the_model_and_is_made_again_for_a_longer_read() -> (
    None
):
    generator = RecordingGenerator()
    kept = CachedGenerator(generator)
    assert await read(kept, most=3) == list(WHOLE[:3])
    assert [followed for _, followed in generator.received] == [3]
    assert await read(kept, most=2) == list(WHOLE[:2])
    assert len(generator.received) == 1
    assert await read(kept) == list(WHOLE)
    assert [followed for _, followed in generator.received] == [3, len(WHOLE)]
    assert await read(kept) == list(WHOLE)
    assert len(generator.received) == 2


async def test_one_with_attention_serves_those_without_and_not_the_other_way_round() -> None:
    generator = RecordingGenerator()
    kept = CachedGenerator(generator)
    with_attention = GenerateRequest("Q:", attention=True)
    await read(kept)
    await read(kept, with_attention)
    assert len(generator.received) == 2
    other = GenerateRequest("Who?", attention=True)
    await read(kept, other)
    await read(kept, GenerateRequest("Who?"))
    assert [request for request, _ in generator.received] == [REQUEST, with_attention, other]


async def test_a_failed_generation_is_requested_again() -> None:
    generator = RecordingGenerator(fails_at=2)
    kept = CachedGenerator(generator)
    for _ in range(2):
        with pytest.raises(BackendUnavailable):
            await read(kept)
    assert len(generator.received) == 2


async def test_the_least_recently_used_generation_is_evicted() -> None:
    generator = RecordingGenerator()
    kept = CachedGenerator(generator, max_cached=2)
    first, second, third = (GenerateRequest(prompt) for prompt in "abc")
    for request in (first, second, first, third, first, second):
        await read(kept, request)
    assert [request for request, _ in generator.received] == [first, second, third, second]


async def test_samples_are_cached_by_their_seed_and_not_without_one() -> None:
    generator = RecordingGenerator()
    kept = CachedGenerator(generator)
    seeded, unseeded = (GenerateRequest("Q:", temperature=1.0, seed=seed) for seed in (3, None))
    for request in (seeded, seeded, unseeded, unseeded):
        assert await read(kept, request) == list(WHOLE)
    assert [request for request, _ in generator.received] == [seeded, unseeded, unseeded]


async def test_samples_of_which_some_were_read_are_made_again_for_all() -> None:
    generator = ScriptedGenerator(lambda _: [(" a", -1.0)], model=SAMPLED_MODEL)
    kept = CachedGenerator(generator)
    request = GenerateRequest("Q:", temperature=1.0, seed=3, n=2)
    first_sample = await read(kept, request, most=3)
    assert isinstance(first_sample[-1], GenerationEnd)
    samples = await read(kept, request)
    assert [event.sample for event in samples if isinstance(event, GenerationEnd)] == [0, 1]
    assert await read(kept, request) == samples
    assert len(generator.requests) == 3
