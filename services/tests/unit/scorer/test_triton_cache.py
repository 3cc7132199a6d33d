"""The cache over a scorer that ends at its caller's deadline, as the one on Triton does."""

import asyncio

import pytest

from scaar.core.errors import DeadlineExceeded
from scaar.core.loop.budget import deadline_in, remaining_time_s
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.scorer.cache import open_cached_scorer

ADA = ScoreRequest("Who?", ("Ada", "did."))


class TimedScorer:
    """A scorer that fails for callers with a deadline, and succeeds for others."""

    def __init__(self):
        self.gate = asyncio.Event()
        self.received = 0

    async def score_contributions(self, requests):
        self.received += 1
        await self.gate.wait()
        if remaining_time_s() is not None:
            raise DeadlineExceeded("the time of this call is used up")
        return tuple((0.5,) * len(request.words) for request in requests)

    async def describe_model(self):
        return ScorerDescription("timed", "1", "fake", max_pair_tokens=64)


async def hurried(cached, seconds):
    with deadline_in(seconds):
        return await cached.score_contributions([ADA])


async def test_a_caller_with_time_remaining_outlives_the_deadline_of_another():
    timed = TimedScorer()
    async with open_cached_scorer(timed, max_entries=4) as cached:
        first = asyncio.create_task(hurried(cached, 60))
        await asyncio.sleep(0)
        second = asyncio.create_task(cached.score_contributions([ADA]))
        while cached.joined < 1:  # noqa: ASYNC110 (nothing reports a joined call)
            await asyncio.sleep(0)
        timed.gate.set()
        with pytest.raises(DeadlineExceeded):
            await first
        assert await second == ((0.5, 0.5),)
    assert timed.received == 2


async def test_a_caller_whose_own_deadline_expires_gets_the_error():
    timed = TimedScorer()
    timed.gate.set()
    async with open_cached_scorer(timed, max_entries=4) as cached:
        calls = [hurried(cached, 60) for _ in range(3)]
        ended = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(each, DeadlineExceeded) for each in ended)
    assert timed.received <= 3
