import asyncio
import math
from contextlib import suppress

import pytest

from scaar.core.errors import DeadlineExceeded
from scaar.core.loop.budget import Budget, Part, deadline_in, remaining_time_s
from scaar.core.types import BudgetLimits, Usage


class Clock:
    """A clock that is set."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


LIMITS = BudgetLimits(max_sentences=2, max_tokens=10, max_retrievals=2, timeout_s=3.0)


def test_a_new_budget_is_unused() -> None:
    budget = Budget(LIMITS, Clock(100.0))
    assert (budget.remaining_tokens, budget.remaining_retrievals, budget.remaining_s) == (
        10,
        2,
        3.0,
    )
    assert budget.usage() == Usage(0, 0, 0, 0, 0.0)


def test_spending_reduces_the_budget_and_counts_as_usage() -> None:
    clock = Clock(100.0)
    budget = Budget(LIMITS, clock)
    budget.count_retrieval()
    budget.count_call(prompt_tokens=7, generated_tokens=4)
    budget.count_call(prompt_tokens=9, generated_tokens=0)
    for _ in range(3):
        budget.count_token()
    clock.now = 101.25
    assert (budget.remaining_tokens, budget.remaining_retrievals, budget.remaining_s) == (
        7,
        1,
        1.75,
    )
    assert budget.usage() == Usage(1, 2, 4, 16, 1250.0, searches=1, evaluated_prompt_tokens=16)


def test_tokens_that_nobody_read_cost_nothing_of_the_budget() -> None:
    budget = Budget(LIMITS, Clock(0.0))
    budget.count_call(prompt_tokens=1_000_000, generated_tokens=100)
    assert budget.remaining_tokens == 10
    assert budget.usage().generated_tokens == 100


async def test_within_the_time_nothing_is_stopped() -> None:
    budget = Budget(LIMITS, Clock(0.0))
    async with budget.within("a stage"):
        await asyncio.sleep(0)


async def test_time_that_is_used_up_stops_what_waits_and_names_the_stage() -> None:
    clock = Clock(0.0)
    budget = Budget(LIMITS, clock)
    clock.now = 3.0
    with pytest.raises(DeadlineExceeded) as caught:
        async with budget.within("judging sentence 2"):
            await asyncio.Event().wait()
    assert caught.value.message == (
        "the answer's time of 3 s was used up while judging sentence 2; "
        "budget.timeout_s (--timeout) is the limit"
    )
    assert caught.value.metadata == {"stage": "judging sentence 2"}


async def test_what_needs_no_wait_is_let_through_even_late() -> None:
    clock = Clock(0.0)
    budget = Budget(LIMITS, clock)
    clock.now = 1_000.0
    assert budget.remaining_s < 0
    async with budget.within("a stage"):
        pass


async def test_a_stage_that_is_cancelled_from_outside_is_cancelled() -> None:
    entered = asyncio.Event()

    async def stage() -> None:
        async with Budget(LIMITS, Clock(0.0)).within("a stage"):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(stage())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_of_the_stage_is_its_own() -> None:
    for error in (LookupError("no such thing"), TimeoutError("the port's own")):
        with pytest.raises(type(error)) as caught:
            async with Budget(LIMITS, Clock(0.0)).within("a stage"):
                raise error
        assert caught.value is error


async def test_what_a_part_is_waited_for_is_put_down_to_it() -> None:
    clock = Clock(0.0)
    budget = Budget(LIMITS, clock)
    async with budget.within("drafting", Part.GENERATION):
        clock.now = 0.25
    async with budget.within("scoring", Part.SCORING):
        clock.now = 0.75
    async with budget.within("building a query"):
        clock.now = 1.0
    with suppress(LookupError):
        async with budget.within("retrieving", Part.RETRIEVAL):
            clock.now = 1.125
            raise LookupError
    usage = budget.usage()
    assert (usage.generation_ms, usage.scoring_ms, usage.retrieval_ms) == (250.0, 500.0, 125.0)
    assert usage.latency_ms == 1125.0


async def test_without_a_time_limit_only_a_deadline_of_the_caller_applies() -> None:
    budget = Budget(BudgetLimits())
    assert budget.remaining_s == math.inf
    async with budget.within("drafting sentence 1"):
        assert remaining_time_s() is None
    with deadline_in(5.0):
        async with budget.within("drafting sentence 1"):
            remaining = remaining_time_s()
    assert remaining is not None
    assert 0 < remaining <= 5.0


def test_tokens_of_a_prompt_count_as_evaluated_unless_the_engine_had_cached_them() -> None:
    budget = Budget(BudgetLimits())
    budget.count_call(prompt_tokens=100, generated_tokens=1, evaluated_tokens=30)
    budget.count_call(prompt_tokens=7, generated_tokens=1)
    budget.count_call(prompt_tokens=None, generated_tokens=1, evaluated_tokens=9)
    budget.count_call(prompt_tokens=3, generated_tokens=1, evaluated_tokens=9)
    usage = budget.usage()
    assert (usage.prompt_tokens, usage.evaluated_prompt_tokens) == (110, 40)


def test_calls_without_a_count_of_their_prompt_and_thoughts_are_counted_apart() -> None:
    budget = Budget(LIMITS, Clock(0.0))
    budget.count_call(prompt_tokens=None, generated_tokens=4, thinking_tokens=30)
    budget.count_call(prompt_tokens=7, generated_tokens=2)
    usage = budget.usage()
    assert (usage.llm_calls, usage.uncounted_calls, usage.prompt_tokens) == (2, 1, 7)
    assert (usage.generated_tokens, usage.thinking_tokens) == (6, 30)


def test_drafts_without_contributions_are_counted() -> None:
    budget = Budget(LIMITS, Clock(0.0))
    budget.count_unscored()
    assert budget.usage().unscored_sentences == 1
