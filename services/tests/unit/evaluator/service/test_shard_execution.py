"""Shards are executed to their end, although processes are stopped, lost or late."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from scaar.core.errors import BackendUnavailable
from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
)
from scaar.core.ports import Evaluator
from scaar.core.types import AnswerEvent, AnswerRequest, PolicyRequest
from scaar.database.migration import open_checked_database
from scaar.evaluator.service.setup import (
    execution_of,
    open_evaluator,
)
from scaar.evaluator.service.start import EvaluationStarter
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.database.evaluations import get_evaluation
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.evaluator.store.database.shards import ShardKey, claim
from scaar.testing.steady_answerer import SteadyAnswerer

SETTINGS = EvaluatorSettings(
    attempts=2, attempt_pause_s=0.01, shard_predictions=8, concurrent_shards=2, concurrency=2
)
REQUEST = EvaluationRequest(
    policies=(PolicyRequest("no_retrieval"), PolicyRequest("flare")),
    indexes=("lab",),
    request_id="one",
)
COUNT = 20
TEXTS = {f"Who is number {at}?" for at in range(COUNT)}


class Pausing(SteadyAnswerer):
    """Answers a number of questions, then holds the others up."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        self._left = answers

    def _fail(self, question: str) -> None:
        self._left -= 1
        if self._left <= 0:
            self.answering.clear()


class Away(SteadyAnswerer):
    """Is unavailable."""

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        raise BackendUnavailable("nobody answers")
        yield


class Broken(SteadyAnswerer):
    """Fails with an internal error."""

    def _fail(self, question: str) -> None:
        raise RuntimeError(f"no thought was given to {question}")


async def sent() -> AsyncIterator[EvaluationQuestion]:
    for at in range(COUNT):
        yield EvaluationQuestion(f"q{at}", f"Who is number {at}?", ("Ada",))


def opened(path: Path, answerer: SteadyAnswerer) -> AbstractAsyncContextManager[Evaluator]:
    url = f"sqlite:///{path}/evaluations.sqlite"
    return open_evaluator(SETTINGS, answerer, database_url=url, lab_index=str)


async def ended(evaluator: Evaluator, evaluation_id: str) -> EvaluationDescription:
    last = [each.evaluation async for each in evaluator.watch_evaluation(evaluation_id)][-1]
    assert last.state.ended
    return last


async def test_two_services_of_one_database_ask_every_question_once(tmp_path: Path) -> None:
    one, two = SteadyAnswerer(), SteadyAnswerer()
    async with opened(tmp_path, one) as first, opened(tmp_path, two) as second:
        created = await first.create_evaluation(REQUEST, sent())
        last = await ended(second, created.id)
    assert (last.state, last.done) == (EvaluationState.SUCCEEDED, 2 * COUNT)
    assert one.answers + two.answers == dict.fromkeys(TEXTS, 2)


async def test_a_stopped_evaluation_resumes_with_the_remaining_questions(tmp_path: Path) -> None:
    stopped, after = Pausing(answers=11), SteadyAnswerer()
    async with opened(tmp_path, stopped) as evaluator:
        created = await evaluator.create_evaluation(REQUEST, sent())
        async for each in evaluator.watch_evaluation(created.id):
            if each.evaluation.done >= 9:
                break
    async with opened(tmp_path, after) as evaluator:
        before = await evaluator.get_evaluation(created.id)
        last = await ended(evaluator, created.id)
    assert 0 < before.done < 2 * COUNT
    assert (last.state, last.done) == (EvaluationState.SUCCEEDED, 2 * COUNT)
    assert sum(after.answers.values()) == 2 * COUNT - before.done


async def test_a_shard_whose_holder_was_lost_is_taken_when_its_lease_is_over(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, Pausing(answers=1)) as evaluator:
        created = await evaluator.create_evaluation(REQUEST, sent())
        async for each in evaluator.watch_evaluation(created.id):
            if each.evaluation.state is EvaluationState.RUNNING:
                break
    async with open_checked_database(
        f"sqlite:///{tmp_path}/evaluations.sqlite", SCHEMA
    ) as database:
        number = (await get_evaluation(database, created.id)).number
        earlier = time.time() - 31.0
        lost = await claim(database, ShardKey(number, 0), holder="lost", now=earlier, lease_s=30.0)
        assert lost is not None
    async with opened(tmp_path, SteadyAnswerer()) as evaluator:
        assert (await ended(evaluator, created.id)).state is EvaluationState.SUCCEEDED


async def test_a_shard_that_another_process_holds_is_not_executed(tmp_path: Path) -> None:
    answerer = Pausing(answers=1)
    async with opened(tmp_path, answerer) as evaluator:
        created = await evaluator.create_evaluation(REQUEST, sent())
        await answerer.waiting.wait()
        url, late = f"sqlite:///{tmp_path}/evaluations.sqlite", SteadyAnswerer()
        async with open_checked_database(url, SCHEMA) as database:
            number = (await get_evaluation(database, created.id)).number
            await execution_of(SETTINGS, database, late).execute(ShardKey(number, 0))
        assert not late.answers


async def test_an_evaluation_that_cannot_be_answered_fails_with_the_reason(tmp_path: Path) -> None:
    async with opened(tmp_path, SteadyAnswerer()) as evaluator:
        created = await evaluator.create_evaluation(replace(REQUEST, indexes=("nowhere",)), sent())
        last = await ended(evaluator, created.id)
    assert last.state is EvaluationState.FAILED
    assert last.error is not None
    assert last.error.reason == "NOT_FOUND"


async def test_whoever_answers_is_waited_for(tmp_path: Path) -> None:
    async with opened(tmp_path, Away()) as evaluator:
        created = await evaluator.create_evaluation(REQUEST, sent())
        await asyncio.sleep(0)
        url = f"sqlite:///{tmp_path}/evaluations.sqlite"
        async with open_checked_database(url, SCHEMA) as database:
            stored = await get_evaluation(database, created.id)
            starter = EvaluationStarter(database, Away(), time.time, 8)
            assert not await starter.start(stored)
        assert (await evaluator.get_evaluation(created.id)).state is EvaluationState.QUEUED


async def test_a_shard_that_no_holder_survives_ends_its_evaluation(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = SETTINGS.model_copy(update={"shard_faults": 3, "concurrent_shards": 1})
    url = f"sqlite:///{tmp_path}/evaluations.sqlite"
    async with open_evaluator(settings, Broken(), database_url=url, lab_index=str) as evaluator:
        created = await evaluator.create_evaluation(REQUEST, sent())
        last = await ended(evaluator, created.id)
    assert last.state is EvaluationState.FAILED
    assert last.error is not None
    assert last.error.message == "shard 0 lost its holder 3 times without ending"
    assert "no thought was given to" in caplog.text


@pytest.mark.parametrize("concurrent_shards", [1, 4])
async def test_a_model_that_changes_while_it_runs_ends_it(
    tmp_path: Path, concurrent_shards: int
) -> None:
    answerer = SteadyAnswerer()
    settings = SETTINGS.model_copy(update={"concurrent_shards": concurrent_shards})
    url = f"sqlite:///{tmp_path}/evaluations.sqlite"
    async with open_evaluator(settings, answerer, database_url=url, lab_index=str) as evaluator:
        answerer.answering.clear()
        created = await evaluator.create_evaluation(REQUEST, sent())
        await answerer.waiting.wait()
        answerer.revision = "2"
        answerer.answering.set()
        last = await ended(evaluator, created.id)
    assert last.state is EvaluationState.FAILED
    assert last.error is not None
    assert "changed while the evaluation ran" in last.error.message
