"""Shards of one evaluation after another by one process."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from scaar.core.errors import BackendUnavailable
from scaar.core.evaluations import EvaluationQuestion, EvaluationRequest, EvaluationState
from scaar.core.types import AnswerEvent, AnswerRequest, PolicyRequest
from scaar.database.database import Database
from scaar.database.migration import open_checked_database
from scaar.evaluator.service import shard_sequence
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.service.shard_execution import ShardExecution
from scaar.evaluator.service.shard_sequence import ShardSequence
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.database import shards
from scaar.evaluator.store.database.evaluations import get_evaluation
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.evaluator.store.database.shards import ShardKey
from scaar.testing.steady_answerer import SteadyAnswerer

pytestmark = pytest.mark.slow

COUNT, OF_A_SHARD = 20, 4
POLICIES = (PolicyRequest("no_retrieval"), PolicyRequest("flare"))
SETTINGS = EvaluatorSettings(shard_predictions=OF_A_SHARD * len(POLICIES))


def questions_of_shards(*numbers: int) -> set[str]:
    """The questions of these shards."""
    positions = (at for each in numbers for at in range(each * OF_A_SHARD, (each + 1) * OF_A_SHARD))
    return {f"Who is number {at}?" for at in positions}


ALL = questions_of_shards(*range(COUNT // OF_A_SHARD))


class WaitingFor(SteadyAnswerer):
    """Answers one question after another one was sent, and counts the answers in flight."""

    def __init__(self, question: str = "", *, for_question: str = "") -> None:
        super().__init__()
        self._question, self._for_question = question, for_question
        self.reached = asyncio.Event()
        self.under_way = self.most = 0

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            if request.question == self._for_question:
                self.reached.set()
            if request.question == self._question:
                await self.reached.wait()
            async for event in super().stream_answer(request):
                yield event
        finally:
            self.under_way -= 1


@dataclass(frozen=True, slots=True)
class RunningEvaluation:
    """An evaluation that has started, without a prediction."""

    database: Database
    id: str
    number: int

    def sequence(
        self, answerer: SteadyAnswerer, *, concurrency: int = 3, continue_s: float = 60.0
    ) -> ShardSequence:
        execution = ShardExecution(
            database=self.database,
            answerer=answerer,
            holder="test",
            now=time.time,
            attempts=1,
            pause_s=0.01,
            lease_s=30.0,
        )
        return ShardSequence(execution, concurrency, continue_s)

    async def free(self) -> list[ShardKey]:
        now = self.database.clock
        found = await shards.free_shards(self.database, self.number, now=now, lease_s=30.0)
        return [each.key for each in found]

    async def done(self) -> int:
        return (await get_evaluation(self.database, self.id)).done


async def sent() -> AsyncIterator[EvaluationQuestion]:
    for at in range(COUNT):
        yield EvaluationQuestion(f"q{at}", f"Who is number {at}?", ("Ada",))


@asynccontextmanager
async def started(path: Path) -> AsyncIterator[RunningEvaluation]:
    url = f"sqlite:///{path}/evaluations.sqlite"
    held_up = SteadyAnswerer()
    held_up.answering.clear()
    async with open_evaluator(SETTINGS, held_up, database_url=url, lab_index=str) as evaluator:
        request = EvaluationRequest(policies=POLICIES, indexes=("lab",), request_id="one")
        created = await evaluator.create_evaluation(request, sent())
        async for each in evaluator.watch_evaluation(created.id):
            if each.evaluation.state is EvaluationState.RUNNING:
                break
    async with open_checked_database(url, SCHEMA) as database:
        yield RunningEvaluation(
            database, created.id, (await get_evaluation(database, created.id)).number
        )


async def test_a_slow_question_does_not_delay_other_shards(tmp_path: Path) -> None:
    last = f"Who is number {COUNT - 1}?"
    answerer = WaitingFor("Who is number 0?", for_question=last)
    async with started(tmp_path) as evaluation, asyncio.timeout(60):
        await evaluation.sequence(answerer).execute(ShardKey(evaluation.number, 0))
        assert await evaluation.done() == COUNT * len(POLICIES)
    assert answerer.answers == dict.fromkeys(ALL, len(POLICIES))
    assert answerer.most == 3


async def test_no_further_shard_is_started_after_the_time_limit(tmp_path: Path) -> None:
    answerer = SteadyAnswerer()
    async with started(tmp_path) as evaluation:
        sequence = evaluation.sequence(answerer, continue_s=0.0)
        await sequence.execute(ShardKey(evaluation.number, 2))
    assert answerer.answers == dict.fromkeys(questions_of_shards(2), len(POLICIES))


async def test_leased_and_faulty_shards_are_left(tmp_path: Path) -> None:
    answerer = SteadyAnswerer()
    async with started(tmp_path) as evaluation:
        database, number = evaluation.database, evaluation.number
        for at, faulty in ((1, False), (3, True)):
            held = await shards.claim(
                database, ShardKey(number, at), holder="other", now=database.clock, lease_s=60.0
            )
            assert held is not None
            if faulty:
                await shards.release(database, held, faulty=True)
        await evaluation.sequence(answerer).execute(ShardKey(number, 0))
    assert answerer.answers == dict.fromkeys(questions_of_shards(0, 2, 4), len(POLICIES))


async def test_running_shards_are_released_on_cancellation(tmp_path: Path) -> None:
    after = SteadyAnswerer()
    async with started(tmp_path) as evaluation:
        held_up = WaitingFor("Who is nobody?", for_question=f"Who is number {2 * OF_A_SHARD}?")
        asking = evaluation.sequence(held_up).execute(ShardKey(evaluation.number, 0))
        task = asyncio.create_task(asking)
        await held_up.reached.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert held_up.under_way == 0
        before = await evaluation.done()
        await evaluation.sequence(after).execute(ShardKey(evaluation.number, 2))
        assert await evaluation.done() == COUNT * len(POLICIES)
    assert sum(after.answers.values()) == COUNT * len(POLICIES) - before


async def test_a_shard_that_is_being_leased_is_released_on_cancellation(
    tmp_path: Path,
) -> None:
    async with started(tmp_path) as evaluation:
        key = ShardKey(evaluation.number, 0)
        for steps in range(40):
            sequence = evaluation.sequence(SteadyAnswerer(), continue_s=0.0)
            claiming = asyncio.create_task(sequence.execution.claim(key))
            for _ in range(steps):
                await asyncio.sleep(0)
            claiming.cancel()
            await asyncio.sleep(0)
            claiming.cancel()
            (held,) = await asyncio.gather(claiming, return_exceptions=True)
            if isinstance(held, shards.ShardLease):
                break
            async with asyncio.timeout(10):
                while key not in await evaluation.free():
                    pass


async def test_running_shards_continue_while_the_database_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> tuple[shards.FreeShard, ...]:
        raise BackendUnavailable("the database does not answer")

    monkeypatch.setattr(shard_sequence, "free_shards", away)
    answerer = SteadyAnswerer()
    async with started(tmp_path) as evaluation:
        await evaluation.sequence(answerer).execute(ShardKey(evaluation.number, 1))
        assert await evaluation.done() == OF_A_SHARD * len(POLICIES)
    assert answerer.answers == dict.fromkeys(questions_of_shards(1), len(POLICIES))
