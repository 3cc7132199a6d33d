import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from scaar.core.errors import BackendUnavailable, ScaarError
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    GenerateRequest,
)
from scaar.evaluator.execution.items import MAX_PENDING, QuestionLimiter
from scaar.evaluator.execution.provenance import provenances
from scaar.evaluator.execution.shard import run_shard
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.planning.work import Key, Work, plan_work
from scaar.evaluator.records import Prediction, Question
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import InMemoryRetriever, Piece, ScriptedGenerator, ScriptedScorer

SETTINGS = plan_settings(("no_retrieval", "flare"), {})
QUESTIONS = tuple(Question(f"q{at}", f"Who is {at}?", ("Ada",), f"{at}") for at in range(6))
PLAN = tuple(plan_work(SETTINGS, QUESTIONS))
TEMPLATE = AnswerRequest("Who?")


class MemoryStore:
    """A store in memory, which fails when it is full."""

    def __init__(self, room: int = 1_000, *, gather_s: float = 0.0) -> None:
        self.gather_s = gather_s
        self.kept: list[Prediction] = []
        self.added: list[int] = []
        self.three_are_kept = asyncio.Event()
        self._room = room

    async def known(self) -> Mapping[Key, bool]:
        return {(each.setting, each.question_id): False for each in self.kept}

    async def add(self, predictions: Sequence[Prediction]) -> None:
        self.added.append(len(predictions))
        for each in predictions:
            if len(self.kept) == self._room:
                raise ScaarError("there is no room")
            self.kept.append(each)
            if len(self.kept) == 3:
                self.three_are_kept.set()


class CountingAnswerer:
    """An answerer that counts the answers in flight; some questions fail."""

    def __init__(self, *, failing: str = "", revision_from: int = 1_000) -> None:
        def script(request: GenerateRequest) -> list[Piece]:
            return [(" So the answer is Ada.", -0.1)]

        generator = ScriptedGenerator(script, delay_s=0.001)
        ports = Ports(
            generator, ScriptedScorer({}), LocalQueryBuilder(), InMemoryRetriever({"lab": ()})
        )
        self._loop = AdaptiveLoop(ports, default_index="lab")
        self._failing = failing
        self._revision_from = revision_from
        self.received: list[str] = []
        self.under_way = self.most = self.answered = 0
        self.five_are_answered = asyncio.Event()

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        self.received.append(request.question)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            if self._failing and self._failing in request.question:
                raise BackendUnavailable("nobody answers")
            async for event in self._loop.stream_answer(request):
                if isinstance(event, AnswerStarted) and len(self.received) > self._revision_from:
                    changed = replace(event.provenance, model_revision="2")
                    yield AnswerStarted(changed)
                    raise BackendUnavailable("restarted")
                if isinstance(event, AnswerFinished):
                    self.answered += 1
                    if self.answered == 5:
                        self.five_are_answered.set()
                yield event
        finally:
            self.under_way -= 1


async def ran(
    answerer: CountingAnswerer,
    store: MemoryStore,
    *,
    concurrency: int = 3,
    plan: Sequence[Work] = PLAN,
    on_last_started: Callable[[], None] = lambda: None,
) -> None:
    expected = await provenances(answerer, SETTINGS, TEMPLATE)
    answerer.received.clear()
    await run_shard(
        answerer,
        plan,
        store,
        template=TEMPLATE,
        expected=expected,
        limiter=QuestionLimiter(concurrency),
        on_last_started=on_last_started,
    )


@pytest.mark.parametrize("concurrency", [1, 3, 50])
async def test_every_question_is_answered_once_with_bounded_concurrency(concurrency: int) -> None:
    answerer, store = CountingAnswerer(), MemoryStore()
    await ran(answerer, store, concurrency=concurrency)
    assert answerer.most == min(concurrency, len(PLAN))
    assert sorted(answerer.received) == sorted(work.question.question for work in PLAN)
    made = [(each.setting, each.question_id) for each in store.kept]
    assert sorted(made) == sorted(work.key for work in PLAN)


async def test_a_failed_question_is_stored_and_the_others_continue() -> None:
    store = MemoryStore()
    await ran(CountingAnswerer(failing="Who is 4?"), store)
    failed = [each.question_id for each in store.kept if each.failure]
    assert failed == ["q4", "q4"]
    assert len(store.kept) == len(PLAN)


async def test_a_full_store_ends_the_run() -> None:
    answerer, store = CountingAnswerer(), MemoryStore(room=4)
    with pytest.raises(ScaarError, match="no room"):
        await ran(answerer, store)
    assert (len(store.kept), answerer.under_way) == (4, 0)


async def test_it_ends_where_another_model_answers_than_the_one_it_began_with() -> None:
    answerer, store = CountingAnswerer(revision_from=5), MemoryStore()
    with pytest.raises(ScaarError, match="changed while the evaluation ran"):
        await ran(answerer, store)
    assert len(store.kept) < len(PLAN)
    assert answerer.under_way == 0


async def test_a_cancelled_shard_leaves_nothing_under_way() -> None:
    answerer, store = CountingAnswerer(), MemoryStore()
    running = asyncio.create_task(ran(answerer, store))
    await store.three_are_kept.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert answerer.under_way == 0
    assert 3 <= len(store.kept) < len(PLAN)


async def test_predictions_that_arrive_together_are_stored_in_one_batch() -> None:
    store = MemoryStore(gather_s=60.0)
    await ran(CountingAnswerer(), store)
    assert store.added == [len(PLAN)]


async def test_pending_predictions_are_bounded() -> None:
    store, plan = MemoryStore(gather_s=60.0), [PLAN[0]] * (2 * MAX_PENDING + 5)
    await ran(CountingAnswerer(), store, plan=plan)
    assert store.added == [MAX_PENDING, MAX_PENDING, 5]


async def test_a_cancelled_shard_keeps_what_was_answered() -> None:
    answerer, store = CountingAnswerer(), MemoryStore(gather_s=60.0)
    running = asyncio.create_task(ran(answerer, store))
    await answerer.five_are_answered.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert 5 <= len(store.kept) == answerer.answered < len(PLAN)


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_the_start_of_the_last_question_is_reported_once(concurrency: int) -> None:
    answerer, started = CountingAnswerer(), []
    await ran(
        answerer,
        MemoryStore(),
        concurrency=concurrency,
        on_last_started=lambda: started.append(len(answerer.received)),
    )
    assert started == [len(PLAN) - 1]


class Broken(CountingAnswerer):
    """Ends the first question by a fault of its own, and lets the second take its time to end."""

    def __init__(self) -> None:
        super().__init__()
        self.held = asyncio.Event()
        self.ending = asyncio.Event()
        self.may_end = asyncio.Event()

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        self.received.append(request.question)
        if len(self.received) == 1:
            await self.held.wait()
            raise RuntimeError("no thought was given to it")
        try:
            self.held.set()
            await asyncio.Event().wait()
            yield
        finally:
            self.ending.set()
            await self.may_end.wait()


async def test_a_shard_that_ends_by_a_fault_and_is_cancelled_meanwhile_ends() -> None:
    answerer, turns = Broken(), QuestionLimiter(2)
    expected = await provenances(CountingAnswerer(), SETTINGS, TEMPLATE)
    asking = run_shard(
        answerer, PLAN, MemoryStore(), template=TEMPLATE, expected=expected, limiter=turns
    )
    running = asyncio.create_task(asking)
    async with asyncio.timeout(10):
        await answerer.ending.wait()
    running.cancel()
    await asyncio.sleep(0)
    answerer.may_end.set()
    _, left = await asyncio.wait([running], timeout=10)
    running.cancel()
    assert not left
