"""The pace of a generator, with a clock that the test advances."""

import asyncio

import pytest
from pydantic import ValidationError

from scaar.core.types import GenerateRequest, GenerationEnd, GenerationStart, Token
from scaar.generator.factory import open_generator
from scaar.generator.pace import PacedGenerator
from scaar.generator.settings import GeneratorSettings
from scaar.testing.fakes import ScriptedGenerator


class FakeTime:
    """A clock in tenths: sleeping moves it on; ``early`` is how much too soon each sleep ends."""

    def __init__(self, early=0.0):
        self.time = 100.0
        self.slept = []
        self._early = early

    def now(self):
        return self.time

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.time += max(seconds - self._early, seconds / 2)


def scripted(*pieces):
    return ScriptedGenerator(lambda request: [(piece, -0.1) for piece in pieces])


def paced(clock, generator, interval_s=0.5):
    return PacedGenerator(generator, interval_s, now=clock.now, sleep=clock.sleep)


async def test_tokens_are_at_least_the_pace_apart():
    clock = FakeTime()
    times = []
    async for event in paced(clock, scripted(*"abcd")).generate(GenerateRequest("x")):
        if isinstance(event, Token):
            times.append(clock.time)
    assert times == [100.0, 100.5, 101.0, 101.5]


async def test_a_sleep_that_ends_too_soon_is_continued():
    clock = FakeTime(early=0.1)
    times = []
    async for event in paced(clock, scripted(*"abc")).generate(GenerateRequest("x")):
        if isinstance(event, Token):
            times.append(clock.time)
    assert len(clock.slept) > 2
    assert times == pytest.approx([100.0, 100.5, 101.0])


async def test_time_that_passed_anyway_is_not_waited_for():
    clock = FakeTime()
    stream = paced(clock, scripted(*"abcd")).generate(GenerateRequest("x"))
    assert isinstance(await anext(stream), GenerationStart)
    for passed in (0.2, 0.5, 7.0):
        await anext(stream)
        clock.time += passed
    await anext(stream)
    assert clock.slept == [pytest.approx(0.3)]
    await stream.aclose()


async def test_the_start_and_the_end_are_not_waited_for():
    clock = FakeTime()
    events = [event async for event in paced(clock, scripted("a")).generate(GenerateRequest("x"))]
    assert [type(event) for event in events] == [GenerationStart, Token, GenerationEnd]
    assert clock.slept == []


async def test_every_generation_is_paced_separately():
    clock = FakeTime()
    generator = paced(clock, scripted("a"))
    for _ in range(2):
        async for _ in generator.generate(GenerateRequest("x")):
            pass
    assert clock.slept == []


async def test_cancellation_ends_the_wait_and_closes_the_generation():
    waits = asyncio.Event()
    below = scripted(*"abcd")

    async def sleep(seconds):
        waits.set()
        await asyncio.Event().wait()

    generator = PacedGenerator(below, 0.5, now=lambda: 0.0, sleep=sleep)

    async def read():
        async for _ in generator.generate(GenerateRequest("x")):
            pass

    task = asyncio.create_task(read())
    await waits.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (below.opened, below.closed) == (1, 1)


async def test_closing_between_tokens_closes_the_generation_below():
    below = scripted(*"abcd")
    stream = paced(FakeTime(), below).generate(GenerateRequest("x"))
    for _ in range(3):
        await anext(stream)
    await stream.aclose()
    assert (below.opened, below.closed) == (1, 1)


async def test_the_rest_of_the_port_is_the_generators_below(language_model_folder):
    settings = GeneratorSettings(model=language_model_folder, pace_ms=250)
    async with (
        open_generator(settings) as paced,
        open_generator(settings.model_copy(update={"pace_ms": 0.0})) as plain,
    ):
        assert isinstance(paced, PacedGenerator)
        assert not isinstance(plain, PacedGenerator)
        assert await paced.describe_model() == await plain.describe_model()


@pytest.mark.parametrize("wrong", ["-1", "nan", "inf", "60001", "fast"])
def test_a_wrong_pace_is_named(wrong):
    with pytest.raises(ValidationError, match="pace_ms"):
        GeneratorSettings(pace_ms=wrong)


@pytest.mark.parametrize("wrong", ["-1", "1.5", "much"])
def test_a_wrong_size_of_the_prefix_cache_is_named(wrong):
    with pytest.raises(ValidationError, match="prefix_cache_mb"):
        GeneratorSettings(prefix_cache_mb=wrong)
