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
from scaar.evaluator.service import shard_succession
from scaar.evaluator.service.opening import open_checked_database, open_evaluator
from scaar.evaluator.service.shard_execution import ShardExecution
from scaar.evaluator.service.shard_succession import ShardSuccession
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.database import shards
from scaar.evaluator.store.database.evaluations import get_evaluation
from scaar.evaluator.store.database.opening import Database
from scaar.evaluator.store.database.shards import ShardKey
from scaar.testing.steady_answerer import SteadyAnswerer

COUNT, OF_A_SHARD = 20, 4
POLICIES = (PolicyRequest("no_retrieval"), PolicyRequest("flare"))
SETTINGS = EvaluatorSettings(shard_predictions=OF_A_SHARD * len(POLICIES))


def asked_of(*numbers: int) -> set[str]:
    """The questions of these shards."""
    positions = (at for each in numbers for at in range(each * OF_A_SHARD, (each + 1) * OF_A_SHARD))
    return {f"Who is number {at}?" for at in positions}


ALL = asked_of(*range(COUNT // OF_A_SHARD))


class WaitingFor(SteadyAnswerer):
    """Answers one question when another has been asked, and counts the answers under way."""

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
class Begun:
    """An evaluation that has been begun, and of which nothing has been asked."""

    database: Database
    id: str
    number: int

    def succession(
        self, answerer: SteadyAnswerer, *, concurrency: int = 3, go_on_s: float = 60.0
    ) -> ShardSuccession:
        execution = ShardExecution(
            database=self.database,
            answerer=answerer,
            holder="test",
            now=time.time,
            attempts=1,
            pause_s=0.01,
            lease_s=30.0,
        )
        return ShardSuccession(execution, concurrency, go_on_s)

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
async def begun(path: Path) -> AsyncIterator[Begun]:
    url = f"sqlite:///{path}/evaluations.sqlite"
    held_up = SteadyAnswerer()
    held_up.answering.clear()
    async with open_evaluator(SETTINGS, held_up, database_url=url, lab_index=str) as evaluator:
        request = EvaluationRequest(policies=POLICIES, index="lab", request_id="one")
        created = await evaluator.create_evaluation(request, sent())
        async for each in evaluator.watch_evaluation(created.id):
            if each.evaluation.state is EvaluationState.RUNNING:
                break
    async with open_checked_database(url) as database:
        yield Begun(database, created.id, (await get_evaluation(database, created.id)).number)


async def test_a_question_that_takes_long_keeps_no_other_shard_waiting(tmp_path: Path) -> None:
    last = f"Who is number {COUNT - 1}?"
    answerer = WaitingFor("Who is number 0?", for_question=last)
    async with begun(tmp_path) as evaluation, asyncio.timeout(60):
        await evaluation.succession(answerer).execute(ShardKey(evaluation.number, 0))
        assert await evaluation.done() == COUNT * len(POLICIES)
    assert answerer.asked == dict.fromkeys(ALL, len(POLICIES))
    assert answerer.most == 3


async def test_after_its_time_no_other_shard_is_begun(tmp_path: Path) -> None:
    answerer = SteadyAnswerer()
    async with begun(tmp_path) as evaluation:
        succession = evaluation.succession(answerer, go_on_s=0.0)
        await succession.execute(ShardKey(evaluation.number, 2))
    assert answerer.asked == dict.fromkeys(asked_of(2), len(POLICIES))


async def test_shards_that_others_hold_or_were_lost_with_are_left(tmp_path: Path) -> None:
    answerer = SteadyAnswerer()
    async with begun(tmp_path) as evaluation:
        database, number = evaluation.database, evaluation.number
        for at, faulty in ((1, False), (3, True)):
            held = await shards.claim(
                database, ShardKey(number, at), holder="other", now=database.clock, lease_s=60.0
            )
            assert held is not None
            if faulty:
                await shards.release(database, held, faulty=True)
        await evaluation.succession(answerer).execute(ShardKey(number, 0))
    assert answerer.asked == dict.fromkeys(asked_of(0, 2, 4), len(POLICIES))


async def test_what_it_was_at_is_given_back_when_it_is_cancelled(tmp_path: Path) -> None:
    after = SteadyAnswerer()
    async with begun(tmp_path) as evaluation:
        held_up = WaitingFor("Who is nobody?", for_question=f"Who is number {2 * OF_A_SHARD}?")
        asking = evaluation.succession(held_up).execute(ShardKey(evaluation.number, 0))
        task = asyncio.create_task(asking)
        await held_up.reached.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert held_up.under_way == 0
        before = await evaluation.done()
        await evaluation.succession(after).execute(ShardKey(evaluation.number, 2))
        assert await evaluation.done() == COUNT * len(POLICIES)
    assert sum(after.asked.values()) == COUNT * len(POLICIES) - before


async def test_a_shard_that_is_just_claimed_is_given_back_when_it_is_cancelled(
    tmp_path: Path,
) -> None:
    async with begun(tmp_path) as evaluation:
        key = ShardKey(evaluation.number, 0)
        for turns in range(40):
            succession = evaluation.succession(SteadyAnswerer(), go_on_s=0.0)
            claiming = asyncio.create_task(succession.execution.claim(key))
            for _ in range(turns):
                await asyncio.sleep(0)
            claiming.cancel()
            await asyncio.sleep(0)
            claiming.cancel()
            (held,) = await asyncio.gather(claiming, return_exceptions=True)
            if isinstance(held, shards.Claim):
                break
            async with asyncio.timeout(10):
                while key not in await evaluation.free():
                    pass


async def test_what_is_under_way_goes_on_though_the_database_names_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> tuple[shards.FreeShard, ...]:
        raise BackendUnavailable("the database does not answer")

    monkeypatch.setattr(shard_succession, "free_shards", away)
    answerer = SteadyAnswerer()
    async with begun(tmp_path) as evaluation:
        await evaluation.succession(answerer).execute(ShardKey(evaluation.number, 1))
        assert await evaluation.done() == OF_A_SHARD * len(POLICIES)
    assert answerer.asked == dict.fromkeys(asked_of(1), len(POLICIES))
