"""What is told of evaluations, and of the shards that this process asks."""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from scaar.core.call_context import current_call
from scaar.core.evaluations import EvaluationState
from scaar.core.observers import EvaluationObserver, ShardEnd
from scaar.core.ports import Answerer
from scaar.core.types import AnswerRequest
from scaar.evaluator.service.counting import counting
from scaar.evaluator.service.opening import open_checked_database, open_evaluator
from scaar.evaluator.service.watching import EvaluationWatch
from scaar.evaluator.settings import EvaluatorSettings
from scaar.testing.conformance.evaluator import QUESTIONS, REQUEST, ended, sent
from scaar.testing.fakes import ScriptedAnswerer
from scaar.testing.steady_answerer import SteadyAnswerer

SETTINGS = EvaluatorSettings(attempts=2, attempt_pause_s=0.01, shard_predictions=12, patience_s=0.0)


class Heard(EvaluationObserver):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.taken = 0
        self.begun = asyncio.Event()
        self.ends: Counter[ShardEnd] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.states: Mapping[EvaluationState, int] = {}
        self.oldest_s = 0.0
        self.counted = asyncio.Event()

    def evaluations_counted(
        self, by_state: Mapping[EvaluationState, int], *, oldest_queued_s: float
    ) -> None:
        self.states, self.oldest_s = by_state, oldest_queued_s

    def shards_counted(self, *, waiting: int, held: int) -> None:
        self.counted.set()

    def shard_taken(self) -> None:
        self.taken += 1
        self.begun.set()

    def shard_ended(self, end: ShardEnd, *, seconds: float) -> None:
        assert seconds >= 0
        self.ends[end] += 1

    def question_settled(self, failure: str) -> None:
        self.outcomes[failure] += 1


async def test_every_shard_and_every_question_is_told_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard, answerer = Heard(), SteadyAnswerer(failing=(("number 7", 1),))
    seen: set[tuple[str, str]] = set()

    def watched(asked: Answerer) -> Answerer:
        class Seen(SteadyAnswerer):
            def stream_answer(self, request: AnswerRequest):  # type: ignore[no-untyped-def, override]
                call = current_call()
                assert call
                seen.add((request.request_id, call.request_id))
                return asked.stream_answer(request)

        return Seen()

    caplog.set_level(logging.INFO, "scaar.shards")
    async with open_evaluator(
        SETTINGS,
        answerer,
        database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
        lab_index=str,
        watch=EvaluationWatch(heard, watched),
    ) as evaluator:
        created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        await ended(evaluator, created)
    assert heard.taken == heard.ends.total() == 3
    assert {*heard.ends} <= {ShardEnd.FINISHED, ShardEnd.DROPPED, ShardEnd.GIVEN_BACK}
    assert heard.outcomes == {"": 30, "BACKEND_UNAVAILABLE": 1}
    assert seen == {("one", "one")}
    told = [each.getMessage() for each in caplog.records]
    assert len(told) == 6
    assert all(f" of evaluation {created.id}: " in each for each in told)
    assert f"shard 0 of evaluation {created.id}: taken, questions 0 to 3, attempt 1" in told


async def test_a_shard_that_is_broken_off_is_told_of_as_given_back(tmp_path: Path) -> None:
    heard, answerer = Heard(), SteadyAnswerer()
    answerer.answering.clear()
    async with open_evaluator(
        SETTINGS,
        answerer,
        database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
        lab_index=str,
        watch=EvaluationWatch(heard),
    ) as evaluator:
        await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        await heard.begun.wait()
    assert heard.ends == {ShardEnd.GIVEN_BACK: 1}


async def test_what_cannot_be_begun_grows_old(tmp_path: Path) -> None:
    url, heard = f"sqlite:///{tmp_path}/evaluations.sqlite", Heard()
    away = ScriptedAnswerer(lambda request: [])
    async with open_evaluator(SETTINGS, away, database_url=url, lab_index=str) as evaluator:
        created = await evaluator.create_evaluation(
            replace(REQUEST, request_id="a"), sent(QUESTIONS)
        )
        assert created.state is EvaluationState.QUEUED
        async with open_checked_database(url) as database:
            later = 4_000_000_000.0
            async with counting(database, heard, now=lambda: later, every_s=0.01):
                await heard.counted.wait()
    assert heard.states[EvaluationState.QUEUED] == 1
    assert heard.oldest_s > 1_000_000_000.0
