"""Slots of a llama.cpp server are leased to answers, in order."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from scaar.core.errors import BackendUnavailable, DeadlineExceeded
from scaar.core.loop.budget import deadline_in
from scaar.generator.engines.openai_server import answer_slots
from scaar.generator.engines.openai_server.answer_slots import AnswerSlots, Slot


async def hold(slots: AnswerSlots, answer_id: str) -> Slot:
    """The slot of a call that has ended."""
    async with slots.slot(answer_id) as slot:
        return slot


async def test_the_first_call_of_an_answer_reuses_nothing_and_later_ones_its_slot() -> None:
    slots = AnswerSlots(3)
    assert await hold(slots, "one") == Slot(0, reuse=False)
    assert await hold(slots, "two") == Slot(1, reuse=False)
    assert await hold(slots, "one") == Slot(0, reuse=True)
    assert await hold(slots, "two") == Slot(1, reuse=True)


async def test_a_call_of_no_answer_takes_the_spare_slot_and_never_waits() -> None:
    slots = AnswerSlots(2)
    async with slots.slot("one") as leased:
        assert (leased.number, await hold(slots, "")) == (0, Slot(1, reuse=False))
    assert await hold(slots, "one") == Slot(0, reuse=True)


async def test_a_call_of_no_answer_on_the_only_slot_makes_the_answer_read_again() -> None:
    slots = AnswerSlots(1)
    await hold(slots, "one")
    async with slots.slot(""):
        assert await hold(slots, "one") == Slot(0, reuse=False)
    assert await hold(slots, "one") == Slot(0, reuse=False)
    assert await hold(slots, "one") == Slot(0, reuse=True)


async def test_a_call_waits_for_the_end_of_the_last_one_of_its_answer() -> None:
    slots = AnswerSlots(3)
    async with slots.slot("one"):
        following = asyncio.create_task(hold(slots, "one"))
        await asyncio.sleep(0.01)
        assert await hold(slots, "two") == Slot(1, reuse=False)
        assert not following.done()
    assert await following == Slot(0, reuse=True)
    async with slots.slot("one"):
        following = asyncio.create_task(hold(slots, "one"))
        await asyncio.sleep(0.01)
        slots.release("one")
    assert await following == Slot(0, reuse=False), "a released answer begins again"


async def test_a_call_during_a_long_one_of_the_answer_is_served_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer_slots, "OVERLAP_S", 0.01)
    slots = AnswerSlots(2)
    async with slots.slot("one"):
        assert await hold(slots, "one") == Slot(1, reuse=False)


async def test_answers_wait_in_order_until_one_is_released() -> None:
    slots, served = AnswerSlots(2), list[str]()

    async def answer(answer_id: str) -> None:
        assert await hold(slots, answer_id) == Slot(0, reuse=False)
        served.append(answer_id)

    await hold(slots, "first")
    waiting = [asyncio.create_task(answer(each)) for each in ("second", "third", "fourth")]
    await asyncio.sleep(0.01)
    assert served == []
    for number, ended in enumerate(("first", "second", "third"), 1):
        slots.release(ended)
        await asyncio.sleep(0.01)
        assert served == ["second", "third", "fourth"][:number]
    await asyncio.gather(*waiting)


async def test_an_answer_that_stops_waiting_leaves_its_place() -> None:
    slots = AnswerSlots(2)
    await hold(slots, "first")
    second = asyncio.create_task(hold(slots, "second"))
    third = asyncio.create_task(hold(slots, "third"))
    await asyncio.sleep(0)
    second.cancel()
    slots.release("first")
    assert await third == Slot(0, reuse=False)


async def test_an_answer_released_during_its_call_is_freed_after_it() -> None:
    slots = AnswerSlots(2)
    async with slots.slot("first"):
        slots.release("first")
        second = asyncio.create_task(hold(slots, "second"))
        await asyncio.sleep(0.01)
        assert not second.done()
    assert await second == Slot(0, reuse=False)


async def test_the_slot_of_an_answer_without_calls_is_taken_by_one_that_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer_slots, "IDLE_S", 0.05)
    slots = AnswerSlots(2)
    await hold(slots, "lost")
    assert await hold(slots, "next") == Slot(0, reuse=False)
    await asyncio.sleep(0.1)
    assert await hold(slots, "next") == Slot(0, reuse=True), "nobody waits for it"


async def test_waiting_ends_with_the_deadline_of_the_call() -> None:
    slots = AnswerSlots(2)
    await hold(slots, "first")
    with deadline_in(0.05), pytest.raises(DeadlineExceeded, match="served other answers"):
        await hold(slots, "second")
    slots.release("first")
    assert await hold(slots, "third") == Slot(0, reuse=False)


async def test_after_a_failed_call_nothing_is_reused_and_after_a_closed_one_everything() -> None:
    slots = AnswerSlots(2)
    with pytest.raises(BackendUnavailable):
        async with slots.slot("one"):
            raise BackendUnavailable("lost")
    assert await hold(slots, "one") == Slot(0, reuse=False)

    async def tokens() -> AsyncGenerator[int, None]:
        async with slots.slot("one"):
            yield 1
            yield 2

    async with aclosing(tokens()) as stream:
        assert await anext(stream) == 1
    assert await hold(slots, "one") == Slot(0, reuse=True)


async def test_the_release_of_an_unknown_answer_changes_nothing() -> None:
    slots = AnswerSlots(2)
    slots.release("unknown")
    assert await hold(slots, "one") == Slot(0, reuse=False)
