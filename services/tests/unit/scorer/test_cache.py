"""The memory over a scorer that answers when the test lets it."""

import asyncio
from dataclasses import replace

import pytest

from scaar.core.errors import BackendUnavailable, InvalidRequest, Overloaded, Violation
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.scorer.cache import open_cached_scorer

ADA, BEA, CAY = (ScoreRequest("Who?", (name, "did.")) for name in ("Ada", "Bea", "Cay"))
OF = {ADA: (0.5, 0.1), BEA: (0.6, 0.1), CAY: (0.7, 0.1)}


class HeldScorer:
    """A scorer whose answers wait for ``gate``; ``errors`` are raised in place of answers."""

    def __init__(self):
        self.description = ScorerDescription("held", "1", "fake", max_pair_tokens=64)
        self.gate = asyncio.Event()
        self.gate.set()
        self.answers = dict(OF)
        self.errors = {}
        self.asked = []
        self.ended = 0

    async def score_contributions(self, requests):
        self.asked.extend(requests)
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
def held():
    return HeldScorer()


async def settle():
    for _ in range(10):
        await asyncio.sleep(0)


async def started(cached, *requests):
    task = asyncio.create_task(cached.score_contributions(requests))
    await settle()
    return task


async def test_a_sentence_is_computed_once(held):
    async with open_cached_scorer(held, entries=2) as cached:
        for _ in range(3):
            assert await cached.score_contributions([ADA, BEA]) == (OF[ADA], OF[BEA])
    assert held.asked == [ADA, BEA]
    assert (cached.misses, cached.joined, cached.hits) == (2, 0, 4)


async def test_the_least_recently_asked_for_is_forgotten_first(held):
    async with open_cached_scorer(held, entries=2) as cached:
        for request in (ADA, BEA, ADA, CAY, ADA, BEA):
            await cached.score_contributions([request])
    assert held.asked == [ADA, BEA, CAY, BEA]


async def test_another_question_and_another_revision_are_other_entries(held):
    async with open_cached_scorer(held, entries=9) as cached:
        await cached.score_contributions([ADA])
        held.description = replace(held.description, revision="2")
        await cached.score_contributions([ADA])
        other = ScoreRequest("When?", ADA.words)
        held.errors[other] = Overloaded("asked anew")
        with pytest.raises(Overloaded):
            await cached.score_contributions([other])
    assert held.asked == [ADA, ADA, other]


async def test_words_that_spell_the_same_text_otherwise_are_other_entries(held):
    requests = [
        ScoreRequest("Who?", ("a", "b")),
        ScoreRequest("Who? a", ("b",)),
        ScoreRequest("Who?", ("b", "a")),
        ScoreRequest("Who?", ("a',", "'b")),
        ScoreRequest("Who?', 'a", ("b",)),
    ]
    held.answers = {request: (number / 10,) for number, request in enumerate(requests)}
    async with open_cached_scorer(held, entries=9) as cached:
        expected = tuple(held.answers.values())
        assert await cached.score_contributions(requests) == expected
        assert await cached.score_contributions(requests) == expected
    assert held.asked == requests


async def test_what_was_scored_while_the_model_changed_is_not_remembered(held):
    held.gate.clear()
    async with open_cached_scorer(held, entries=9) as cached:
        asked = await started(cached, ADA)
        held.description = replace(held.description, revision="2")
        held.gate.set()
        assert await asked == (OF[ADA],)
        held.description = replace(held.description, revision="1")
        await cached.score_contributions([ADA])
    assert held.asked == [ADA, ADA]


async def test_equal_sentences_under_way_are_computed_once(held):
    held.gate.clear()
    async with open_cached_scorer(held, entries=9) as cached:
        asked = [await started(cached, ADA, BEA), await started(cached, BEA, BEA)]
        held.gate.set()
        assert await asyncio.gather(*asked) == [(OF[ADA], OF[BEA]), (OF[BEA], OF[BEA])]
    assert held.asked == [ADA, BEA]
    assert (cached.misses, cached.joined, cached.hits) == (2, 2, 0)


@pytest.mark.parametrize("who", [0, 1])
async def test_when_one_of_two_callers_leaves_the_other_has_its_answer(held, who):
    held.gate.clear()
    async with open_cached_scorer(held, entries=9) as cached:
        asked = [await started(cached, ADA), await started(cached, ADA)]
        asked.pop(who).cancel()
        await settle()
        assert held.ended == 0
        held.gate.set()
        assert await asked[0] == (OF[ADA],)
    assert held.asked == [ADA]


async def test_when_all_callers_leave_the_work_is_dropped_and_begun_anew_when_asked(held):
    held.gate.clear()
    async with open_cached_scorer(held, entries=9) as cached:
        asked = [await started(cached, ADA), await started(cached, ADA)]
        for task in asked:
            task.cancel()
        again = await started(cached, ADA)
        assert held.ended == 1
        held.gate.set()
        assert await again == (OF[ADA],)
    assert held.asked == [ADA, ADA]


async def test_errors_reach_every_caller_and_are_not_remembered(held):
    held.gate.clear()
    held.errors[ADA] = Overloaded("no room", retry_after_s=3.0)
    async with open_cached_scorer(held, entries=9) as cached:
        asked = [await started(cached, ADA), await started(cached, BEA, ADA)]
        held.gate.set()
        for task in asked:
            with pytest.raises(Overloaded, match="no room"):
                await task
        del held.errors[ADA]
        assert await cached.score_contributions([ADA]) == (OF[ADA],)


async def test_an_error_names_the_sentence_of_the_caller(held):
    too_long = InvalidRequest([Violation("sentences[0].words", "must be fewer")])
    held.errors[BEA] = too_long
    async with open_cached_scorer(held, entries=9) as cached:
        with pytest.raises(InvalidRequest) as refused:
            await cached.score_contributions([ADA, CAY, BEA])
    assert refused.value.violations == (Violation("sentences[2].words", "must be fewer"),)


async def test_a_wrong_field_is_refused_before_any_work(held):
    async with open_cached_scorer(held, entries=9) as cached:
        with pytest.raises(InvalidRequest) as refused:
            await cached.score_contributions([ADA, ScoreRequest("Who?", ())])
    assert [each.field for each in refused.value.violations] == ["sentences[1].words"]
    assert held.asked == []


async def test_closing_ends_what_is_under_way(held):
    held.gate.clear()
    async with open_cached_scorer(held, entries=9) as cached:
        asked = await started(cached, ADA)
    with pytest.raises(BackendUnavailable):
        await asked
    assert held.ended == 1
