"""The cache over a scorer whose timing the test controls."""

import asyncio
from dataclasses import replace

import pytest

from scaar.core.errors import BackendUnavailable, InvalidRequest, Overloaded, Violation
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.scorer.cache import open_cached_scorer

ADA, BEA, CAY = (ScoreRequest("Who?", (name, "did.")) for name in ("Ada", "Bea", "Cay"))
OF = {ADA: (0.5, 0.1), BEA: (0.6, 0.1), CAY: (0.7, 0.1)}


class GatedScorer:
    """A scorer whose results wait for ``gate``. ``errors`` are raised in place of results."""

    def __init__(self):
        self.description = ScorerDescription("gated", "1", "fake", max_pair_tokens=64)
        self.gate = asyncio.Event()
        self.gate.set()
        self.answers = dict(OF)
        self.errors = {}
        self.requests = []
        self.ended = 0

    async def score_contributions(self, requests):
        self.requests.extend(requests)
        try:
            await self.gate.wait()
            for request in requests:
                if request in self.errors:
                    raise self.errors[request]
            return tuple(self.answers[request] for request in requests)
        finally:
            self.ended += 1

    async def describe_model(self):
        return self.description


@pytest.fixture
def gated():
    return GatedScorer()


async def settle():
    for _ in range(10):
        await asyncio.sleep(0)


async def started(cached, *requests):
    task = asyncio.create_task(cached.score_contributions(requests))
    await settle()
    return task


async def test_a_sentence_is_computed_once(gated):
    async with open_cached_scorer(gated, max_entries=2) as cached:
        for _ in range(3):
            assert await cached.score_contributions([ADA, BEA]) == (OF[ADA], OF[BEA])
    assert gated.requests == [ADA, BEA]
    assert (cached.misses, cached.joined, cached.hits) == (2, 0, 4)


async def test_the_least_recently_used_entry_is_removed_first(gated):
    async with open_cached_scorer(gated, max_entries=2) as cached:
        for request in (ADA, BEA, ADA, CAY, ADA, BEA):
            await cached.score_contributions([request])
    assert gated.requests == [ADA, BEA, CAY, BEA]


async def test_another_question_and_another_revision_are_other_entries(gated):
    async with open_cached_scorer(gated, max_entries=9) as cached:
        await cached.score_contributions([ADA])
        gated.description = replace(gated.description, revision="2")
        await cached.score_contributions([ADA])
        other = ScoreRequest("When?", ADA.words)
        gated.errors[other] = Overloaded("requested again")
        with pytest.raises(Overloaded):
            await cached.score_contributions([other])
    assert gated.requests == [ADA, ADA, other]


async def test_other_words_of_the_same_text_are_other_entries(gated):
    requests = [
        ScoreRequest("Who?", ("a", "b")),
        ScoreRequest("Who? a", ("b",)),
        ScoreRequest("Who?", ("b", "a")),
        ScoreRequest("Who?", ("a',", "'b")),
        ScoreRequest("Who?', 'a", ("b",)),
    ]
    gated.answers = {request: (number / 10,) for number, request in enumerate(requests)}
    async with open_cached_scorer(gated, max_entries=9) as cached:
        expected = tuple(gated.answers.values())
        assert await cached.score_contributions(requests) == expected
        assert await cached.score_contributions(requests) == expected
    assert gated.requests == requests


async def test_scores_computed_during_a_change_of_the_model_are_not_cached(gated):
    gated.gate.clear()
    async with open_cached_scorer(gated, max_entries=9) as cached:
        calls = await started(cached, ADA)
        gated.description = replace(gated.description, revision="2")
        gated.gate.set()
        assert await calls == (OF[ADA],)
        gated.description = replace(gated.description, revision="1")
        await cached.score_contributions([ADA])
    assert gated.requests == [ADA, ADA]


async def test_equal_sentences_in_progress_are_computed_once(gated):
    gated.gate.clear()
    async with open_cached_scorer(gated, max_entries=9) as cached:
        calls = [await started(cached, ADA, BEA), await started(cached, BEA, BEA)]
        gated.gate.set()
        assert await asyncio.gather(*calls) == [(OF[ADA], OF[BEA]), (OF[BEA], OF[BEA])]
    assert gated.requests == [ADA, BEA]
    assert (cached.misses, cached.joined, cached.hits) == (2, 2, 0)


@pytest.mark.parametrize("who", [0, 1])
async def test_when_one_of_two_callers_is_cancelled_the_other_gets_its_result(gated, who):
    gated.gate.clear()
    async with open_cached_scorer(gated, max_entries=9) as cached:
        calls = [await started(cached, ADA), await started(cached, ADA)]
        calls.pop(who).cancel()
        await settle()
        assert gated.ended == 0
        gated.gate.set()
        assert await calls[0] == (OF[ADA],)
    assert gated.requests == [ADA]


async def test_when_all_callers_are_cancelled_the_computation_is_too_and_can_be_restarted(gated):
    gated.gate.clear()
    async with open_cached_scorer(gated, max_entries=9) as cached:
        calls = [await started(cached, ADA), await started(cached, ADA)]
        for task in calls:
            task.cancel()
        again = await started(cached, ADA)
        assert gated.ended == 1
        gated.gate.set()
        assert await again == (OF[ADA],)
    assert gated.requests == [ADA, ADA]


async def test_errors_reach_every_caller_and_are_not_cached(gated):
    gated.gate.clear()
    gated.errors[ADA] = Overloaded("no room", retry_after_s=3.0)
    async with open_cached_scorer(gated, max_entries=9) as cached:
        calls = [await started(cached, ADA), await started(cached, BEA, ADA)]
        gated.gate.set()
        for task in calls:
            with pytest.raises(Overloaded, match="no room"):
                await task
        del gated.errors[ADA]
        assert await cached.score_contributions([ADA]) == (OF[ADA],)


async def test_an_error_names_the_sentence_of_the_caller(gated):
    too_long = InvalidRequest([Violation("sentences[0].words", "must be fewer")])
    gated.errors[BEA] = too_long
    async with open_cached_scorer(gated, max_entries=9) as cached:
        with pytest.raises(InvalidRequest) as refused:
            await cached.score_contributions([ADA, CAY, BEA])
    assert refused.value.violations == (Violation("sentences[2].words", "must be fewer"),)


async def test_a_wrong_field_is_refused_before_any_work(gated):
    async with open_cached_scorer(gated, max_entries=9) as cached:
        with pytest.raises(InvalidRequest) as refused:
            await cached.score_contributions([ADA, ScoreRequest("Who?", ())])
    assert [each.field for each in refused.value.violations] == ["sentences[1].words"]
    assert gated.requests == []


async def test_closing_cancels_computations_in_progress(gated):
    gated.gate.clear()
    async with open_cached_scorer(gated, max_entries=9) as cached:
        calls = await started(cached, ADA)
    with pytest.raises(BackendUnavailable):
        await calls
    assert gated.ended == 1
