import asyncio
import time

import pytest

from scaar.core.errors import DeadlineExceeded
from scaar.core.loop.budget import CALL_MARGIN_S, Budget, deadline_in, remaining_time_s
from scaar.core.types import BudgetLimits


def left() -> float:
    seconds = remaining_time_s()
    assert seconds is not None
    return seconds


def test_nobody_has_set_a_time() -> None:
    assert remaining_time_s() is None


def test_an_inner_deadline_never_extends_the_outer_one() -> None:
    with deadline_in(100.0):
        assert 99 < left() <= 100
        with deadline_in(10.0):
            assert 9 < left() <= 10
            with deadline_in(1000.0):
                assert 9 < left() <= 10
        assert 99 < left() <= 100
    assert remaining_time_s() is None


def test_a_time_is_forgotten_by_a_block_that_fails() -> None:
    with pytest.raises(LookupError), deadline_in(1.0):
        raise LookupError
    assert remaining_time_s() is None


async def test_a_task_has_the_time_of_who_started_it_and_no_other() -> None:
    async def reported(seconds: float) -> float:
        with deadline_in(seconds):
            await asyncio.sleep(0)
            return left()

    with deadline_in(50.0):
        short, long = await asyncio.gather(reported(5.0), reported(500.0))
    assert 4 < short <= 5
    assert 49 < long <= 50


async def test_a_stage_of_an_answer_has_the_remaining_time() -> None:
    began = time.monotonic()
    now = began
    budget = Budget(BudgetLimits(timeout_s=60.0), lambda: now)
    now = began + 40.0
    async with budget.within("a stage"):
        assert 19 < left() <= 20
    assert remaining_time_s() is None


async def test_a_call_with_all_the_remaining_time_ends_with_its_stage() -> None:
    now = 0.0
    budget = Budget(BudgetLimits(timeout_s=3.0), lambda: now)
    now = 3.0 - CALL_MARGIN_S
    late = DeadlineExceeded("retriever did not answer in time", target="retriever")
    with pytest.raises(DeadlineExceeded) as caught:
        async with budget.within("retrieving for sentence 1"):
            raise late
    assert caught.value.metadata == {"stage": "retrieving for sentence 1"}
    assert caught.value.__cause__ is late


async def test_a_call_that_used_up_its_own_cap_ends_as_itself() -> None:
    late = DeadlineExceeded("retriever did not answer in time", target="retriever")
    with pytest.raises(DeadlineExceeded) as caught:
        async with Budget(BudgetLimits(timeout_s=3.0), lambda: 0.0).within("a stage"):
            raise late
    assert caught.value is late
