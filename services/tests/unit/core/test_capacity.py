"""Answers are admitted as many at a time as the generator serves, queued briefly, or refused."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace

import pytest

from scaar.core.calls.capacity import AnswerCapacity, CapacityLimits, Waiting
from scaar.core.errors import DeadlineExceeded, Overloaded, ScaarError
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.observers import CapacityObserver, Shed
from scaar.core.types import (
    Answer,
    AnswerFinished,
    BudgetLimits,
    GenerateRequest,
    GenerationEvent,
    OnFailure,
    ScoreRequest,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import (
    WHITE_BOX_MODEL,
    InMemoryRetriever,
    ScriptedGenerator,
    ScriptedScorer,
)

from .scripted import PASSAGES, UNSURE_OF_PARIS, Parts, answer_in, asking, other_tasks

LIMIT, QUEUE, ANSWERS = 4, 8, 100
RETRY_AFTER_S = 0.25


class LimitedGenerator(ScriptedGenerator):
    """Refuses a generation while ``limit`` are running; ``requests`` are the accepted ones."""

    def __init__(self, limit: int = LIMIT, *, declares: bool = True) -> None:
        declared = limit if declares else None
        model = replace(WHITE_BOX_MODEL, max_concurrent_generations=declared)
        super().__init__(UNSURE_OF_PARIS, model=model)
        self.limit = limit
        self.refused = 0

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        if self.opened - self.closed >= self.limit:
            self.refused += 1
            raise Overloaded("no place", retry_after_s=RETRY_AFTER_S)
        async with aclosing(super().generate(request)) as events:
            async for event in events:
                yield event


class Sheds(CapacityObserver):
    def __init__(self) -> None:
        self.reasons = Counter[Shed]()
        self.repeated = 0

    def on_answer_shed(self, reason: Shed) -> None:
        self.reasons[reason] += 1

    def on_call_repeated(self) -> None:
        self.repeated += 1


@dataclass
class Time:
    """A clock that only sleeping moves on, and the sleeps."""

    now: float = 100.0
    moves: bool = True

    def __post_init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds * self.moves
        await asyncio.sleep(0)

    def waiting(self) -> Waiting:
        return Waiting(clock=lambda: self.now, sleep=self.sleep, chance=lambda: 0.0)


def capacity(
    *, observer: CapacityObserver | None = None, time: Time | None = None, **limits: float
) -> AnswerCapacity:
    bounds: dict[str, float] = {"max_queued": QUEUE, "max_queue_s": 60.0, **limits}
    return AnswerCapacity(
        CapacityLimits(**bounds),  # type: ignore[arg-type]
        observer=observer or CapacityObserver(),
        waiting=(time or Time()).waiting(),
    )


def loop_over(generator: ScriptedGenerator, places: AnswerCapacity) -> AdaptiveLoop:
    scorer = ScriptedScorer({"Ada": 0.15, "in": 0.1})
    ports = Ports(generator, scorer, LocalQueryBuilder(), InMemoryRetriever({"lab": PASSAGES}))
    return AdaptiveLoop(ports, capacity=places, default_index="lab")


async def answered(loop: AdaptiveLoop, number: int, policy: str = "scaar") -> Answer | ScaarError:
    request = replace(asking(policy), question=f"Where was Ada born, <{number}>?")
    try:
        async with aclosing(loop.stream_answer(request)) as events:
            *_, last = [event async for event in events]
    except ScaarError as error:
        return error
    assert isinstance(last, AnswerFinished)
    return last.answer


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to that")


@pytest.mark.parametrize("policy", ["scaar", "no_retrieval", "fixed_sentence", "dragin"])
@pytest.mark.parametrize("declares", [True, False])
@pytest.mark.parametrize("orchestrators", [1, 2])
async def test_every_answer_is_whole_or_refused_before_its_first_model_call(
    policy: str, declares: bool, orchestrators: int
) -> None:
    generator = LimitedGenerator(declares=declares)
    # The clock stands still: nobody's patience ends, and every admitted answer must come through.
    time = Time(moves=False)
    places = [capacity(time=time) for _ in range(orchestrators)]
    loops = [loop_over(generator, each) for each in places]
    results = await asyncio.gather(
        *(answered(loops[number % orchestrators], number, policy) for number in range(ANSWERS))
    )
    for number, result in enumerate(results):
        requested = sum(f"<{number}>" in request.prompt for request in generator.requests)
        if isinstance(result, Answer):
            assert requested == result.usage.llm_calls
        else:
            assert isinstance(result, Overloaded)
            assert (requested, result.retry_after_s > 0) == (0, True)
    whole = sum(isinstance(result, Answer) for result in results)
    assert whole >= LIMIT + QUEUE
    if declares and orchestrators == 1:
        assert whole == LIMIT + QUEUE
    assert generator.opened == generator.closed
    assert [(each.under_way, each.queued) for each in places] == [(0, 0)] * orchestrators
    assert not other_tasks()


async def test_the_limit_of_a_generator_that_declares_none_is_learned_from_its_refusals() -> None:
    generator = LimitedGenerator(declares=False)
    places = capacity(time=Time(moves=False))
    loop = loop_over(generator, places)
    assert places.limit == 64
    for first in range(0, 8 * ANSWERS, ANSWERS):
        await asyncio.gather(*(answered(loop, first + each) for each in range(ANSWERS)))
        # Retrieving answers run no generation meanwhile, so that a few more may run.
        assert places.limit <= 3 * LIMIT
    assert places.limit >= LIMIT - 1


async def test_orchestrators_that_share_a_generator_leave_one_another_room() -> None:
    generator = LimitedGenerator(limit=16)
    places = [capacity(time=Time(moves=False)) for _ in range(2)]
    loops = [loop_over(generator, each) for each in places]
    for first in range(0, 8 * ANSWERS, ANSWERS):
        await asyncio.gather(*(answered(loops[each % 2], first + each) for each in range(ANSWERS)))
    limits = [each.limit for each in places]
    assert sum(limits) < 2 * 16
    assert min(limits) >= 16 // 4


async def test_a_running_answer_waits_for_the_retry_delay_of_the_generator() -> None:
    class Refusing(LimitedGenerator):
        """Refuses the second generation of an answer three times."""

        async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
            if self.opened == 1 and self.refused < 3:
                self.refused += 1
                raise Overloaded("no place", retry_after_s=RETRY_AFTER_S)
            async with aclosing(super().generate(request)) as events:
                async for event in events:
                    yield event

    time, generator, observer = Time(), Refusing(), Sheds()
    places = capacity(time=time, observer=observer, max_queue_s=0.0)
    answer = await answered(loop_over(generator, places), 0)
    assert isinstance(answer, Answer)
    assert answer.answer == "London"
    # A first refusal may be of a generation of its own that is just being stopped.
    assert time.slept == [0.02, RETRY_AFTER_S, RETRY_AFTER_S]
    assert (observer.repeated, observer.reasons) == (3, {})


async def test_a_first_generation_that_is_refused_for_too_long_refuses_the_answer() -> None:
    time, generator, observer = Time(), LimitedGenerator(limit=0), Sheds()
    places = capacity(time=time, observer=observer, max_queue_s=1.0)
    result = await answered(loop_over(generator, places), 0)
    assert isinstance(result, Overloaded)
    assert result.retry_after_s > 0
    assert sum(time.slept) <= 1.0
    assert len(time.slept) == 4
    assert observer.reasons == {Shed.BACK_END: 1}
    assert (generator.requests, places.under_way) == ([], 0)


async def test_only_a_call_refused_again_after_the_retry_delay_lowers_the_limit() -> None:
    refusals, limits = 0, list[int]()

    async def refused_four_times() -> None:
        nonlocal refusals
        limits.append(places.limit)
        if refusals < 4:
            refusals += 1
            raise Overloaded("no place", retry_after_s=RETRY_AFTER_S)

    places = capacity()
    async with AsyncExitStack() as held:
        for _ in range(10):
            place = await held.enter_async_context(places.place(declared=10, remaining_s=60))
        place.started = True
        await place.repeated(refused_four_times)
    # At first, after the pause, after the time: then nine tenths of the nine that are served.
    assert limits == [10, 10, 10, 8, 8]


async def test_a_refusal_beyond_what_is_declared_leads_back_to_that() -> None:
    async def refused() -> None:
        raise Overloaded("no place", retry_after_s=RETRY_AFTER_S)

    places = capacity(max_queue_s=5.0)
    for number in (4, 4, 4, 4, 4, 5):
        assert places.limit in (64, 4, 5)
        async with AsyncExitStack() as held:
            for _ in range(number):
                place = await held.enter_async_context(places.place(declared=4, remaining_s=60))
                place.started = number == 4
            if number == 5:
                with pytest.raises(Overloaded):
                    await place.repeated(refused)
    assert places.limit == 4


async def test_a_running_answer_that_is_refused_ends_with_its_deadline() -> None:
    class Once(LimitedGenerator):
        async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
            self.limit = 0 if self.opened else 1
            async with aclosing(super().generate(request)) as events:
                async for event in events:
                    yield event

    places = capacity(time=Time(moves=False))
    loop = loop_over(Once(), places)
    request = replace(asking(), budget=BudgetLimits(timeout_s=0.2))
    with pytest.raises(DeadlineExceeded, match="writing sentence 0 again"):
        async with aclosing(loop.stream_answer(request)) as events:
            assert [event async for event in events]
    assert (places.under_way, other_tasks()) == (0, set())


class RefusingScorer(ScriptedScorer):
    """Refuses this number of sentences, then scores."""

    def __init__(self, times: int) -> None:
        super().__init__({"Ada": 0.15, "in": 0.1})
        self._times = times

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        self._times -= 1
        if self._times >= 0:
            raise Overloaded("the queue is full", retry_after_s=RETRY_AFTER_S)
        return await super().score_contributions(requests)


@pytest.mark.parametrize("on_failure", OnFailure)
async def test_a_scorer_that_refuses_is_waited_for_unless_the_draft_may_stand(
    on_failure: OnFailure,
) -> None:
    ports = Parts(ScriptedGenerator(UNSURE_OF_PARIS), scorer=RefusingScorer(2))
    answer = answer_in(await ports.events(replace(asking(), on_failure=on_failure)))
    waits = on_failure is OnFailure.FAIL
    assert (answer.answer, answer.degraded) == (("London", False) if waits else ("Paris", True))


async def test_the_queue_is_in_order_and_refuses_the_newest() -> None:
    observer = Sheds()
    places = capacity(observer=observer, max_queued=2)
    order, leave = list[str](), asyncio.Event()

    async def hold(name: str) -> None:
        async with places.place(declared=1, remaining_s=60):
            order.append(name)
            await leave.wait()

    tasks = [asyncio.create_task(hold(name)) for name in "abc"]
    await until(lambda: places.queued == 2)
    with pytest.raises(Overloaded, match=r"^1 answers are running and 2 are queued") as caught:
        await hold("d")
    # Three answers of a second each, as far as is known yet, and one at a time.
    assert caught.value.retry_after_s == 3.0
    leave.set()
    await asyncio.gather(*tasks)
    assert order == ["a", "b", "c"]
    assert observer.reasons == {Shed.QUEUE_FULL: 1}


@pytest.mark.parametrize(("remaining_s", "max_queue_s"), [(4.0, 60.0), (60.0, 4.0)])
async def test_an_answer_that_would_time_out_in_the_queue_is_refused_immediately(
    remaining_s: float, max_queue_s: float
) -> None:
    time, observer = Time(), Sheds()
    places = capacity(time=time, observer=observer, max_queue_s=max_queue_s)
    for _ in range(100):
        async with places.place(declared=1, remaining_s=60) as place:
            place.started = True
            time.now += 5.0
    async with AsyncExitStack() as held:
        for _ in range(places.limit):
            await held.enter_async_context(places.place(declared=1, remaining_s=60))
        expected_s = 5.0 / places.limit
        with pytest.raises(Overloaded) as caught:
            async with places.place(declared=1, remaining_s=min(remaining_s, expected_s / 2)):
                pass
        assert caught.value.retry_after_s == pytest.approx(expected_s, rel=0.01)
    assert observer.reasons == {Shed.TOO_LATE: 1}


async def test_a_place_that_does_not_come_in_time_is_refused() -> None:
    observer = Sheds()
    places = capacity(observer=observer, max_queue_s=1.0)
    places._mean_s = 0.0  # as if answers took no time
    async with places.place(declared=1, remaining_s=60):
        with pytest.raises(Overloaded):
            async with places.place(declared=1, remaining_s=0.01):
                pass
    assert observer.reasons == {Shed.TOO_LATE: 1}
    assert (places.under_way, places.queued) == (0, 0)


async def test_cancelled_answers_release_their_places_queued_or_running() -> None:
    places = capacity(max_queued=ANSWERS)

    async def hold() -> None:
        async with places.place(declared=2, remaining_s=60):
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(hold()) for _ in range(20)]
    await until(lambda: places.queued == 18)
    # Every second one, so that some are granted a place at the moment in which they leave.
    for task in [*tasks[::2], *tasks[1::2]]:
        task.cancel()
        if tasks.index(task) % 3:
            await asyncio.sleep(0)
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (places.under_way, places.queued) == (0, 0)
    async with places.place(declared=2, remaining_s=60):
        assert places.under_way == 1


async def test_calls_that_wait_after_a_refusal_go_ahead_of_new_answers() -> None:
    let_in = asyncio.Event()

    async def refuse_until_let_in() -> None:
        if not let_in.is_set():
            raise Overloaded("no place")

    places = capacity(time=Time(moves=False))
    async with places.place(declared=8, remaining_s=60) as place:
        place.started = True
        waiting = asyncio.create_task(place.repeated(refuse_until_let_in))
        newer = asyncio.create_task(_pass_through(places))
        await until(lambda: places.queued == 1)
        assert places.under_way < places.limit or places.limit == 1
        let_in.set()
        await waiting
        await newer


async def _pass_through(places: AnswerCapacity) -> None:
    async with places.place(declared=8, remaining_s=60):
        pass


async def test_the_limit_follows_what_is_declared_and_is_bounded() -> None:
    places = capacity(max_answers=16)
    for declared, limit in ((4, 4), (None, 4), (8, 8), (100, 16), (0, 1)):
        async with places.place(declared=declared, remaining_s=60):
            assert places.limit == limit


async def test_the_limit_grows_only_while_it_is_reached() -> None:
    places = capacity(max_answers=10)

    async def rounds(number: int, *, at_a_time: int) -> None:
        for _ in range(number):
            async with AsyncExitStack() as held:
                for _ in range(at_a_time):
                    opening = places.place(declared=8, remaining_s=60)
                    (await held.enter_async_context(opening)).started = True

    await rounds(100, at_a_time=7)
    assert places.limit == 8
    await rounds(9, at_a_time=8)
    assert places.limit == 9
    await rounds(100, at_a_time=9)
    await rounds(100, at_a_time=10)
    assert places.limit == 10
