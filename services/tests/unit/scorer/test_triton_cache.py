"""The memory over a scorer that gives up when its caller's time is used up, as Triton's does."""

import asyncio

import pytest

from scaar.core.budget import deadline_in, time_left
from scaar.core.errors import DeadlineExceeded
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.scorer.cache import open_cached_scorer

ADA = ScoreRequest("Who?", ("Ada", "did."))


class TimedScorer:
    """A scorer that fails for callers with a deadline, and answers the others."""

    def __init__(self):
        self.gate = asyncio.Event()
        self.asked = 0

    async def score_contributions(self, requests):
        self.asked += 1
        await self.gate.wait()
        if time_left() is not None:
            raise DeadlineExceeded("the time of this call is used up")
        return tuple((0.5,) * len(request.words) for request in requests)

    async def describe_model(self):
        return ScorerDescription("timed", "1", "fake", max_pair_tokens=64)


async def hurried(cached, seconds):
    with deadline_in(seconds):
        return await cached.score_contributions([ADA])


async def test_a_caller_with_time_left_does_not_end_with_the_time_of_another():
    timed = TimedScorer()
    async with open_cached_scorer(timed, entries=4) as cached:
        first = asyncio.create_task(hurried(cached, 60))
        await asyncio.sleep(0)
        second = asyncio.create_task(cached.score_contributions([ADA]))
        while cached.joined < 1:  # noqa: ASYNC110 (nothing tells of a call that joined)
            await asyncio.sleep(0)
        timed.gate.set()
        with pytest.raises(DeadlineExceeded):
            await first
        assert await second == ((0.5, 0.5),)
    assert timed.asked == 2


async def test_a_caller_whose_own_time_is_used_up_is_told():
    timed = TimedScorer()
    timed.gate.set()
    async with open_cached_scorer(timed, entries=4) as cached:
        calls = [hurried(cached, 60) for _ in range(3)]
        ended = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(each, DeadlineExceeded) for each in ended)
    assert timed.asked <= 3
