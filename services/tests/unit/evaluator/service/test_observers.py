"""Observers and logs of evaluations and of the shards of this process."""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from scaar.core.calls.context import current_call
from scaar.core.evaluations import EvaluationState
from scaar.core.observers import EvaluationObserver, ShardEnd
from scaar.core.ports import Answerer
from scaar.core.types import AnswerRequest
from scaar.database.migration import open_checked_database
from scaar.evaluator.service.setup import EvaluationHooks, open_evaluator
from scaar.evaluator.service.state_counts import publish_counts
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.testing.conformance.evaluator import QUESTIONS, REQUEST, ended, sent
from scaar.testing.fakes import ScriptedAnswerer
from scaar.testing.steady_answerer import SteadyAnswerer

SETTINGS = EvaluatorSettings(attempts=2, attempt_pause_s=0.01, shard_predictions=12, patience_s=0.0)


class RecordingObserver(EvaluationObserver):
    """Records every observation."""

    def __init__(self) -> None:
        self.taken = 0
        self.leased = asyncio.Event()
        self.ends: Counter[ShardEnd] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.states: Mapping[EvaluationState, int] = {}
        self.oldest_s = 0.0
        self.counted = asyncio.Event()

    def on_evaluation_counts(
        self, by_state: Mapping[EvaluationState, int], *, oldest_queued_s: float
    ) -> None:
        self.states, self.oldest_s = by_state, oldest_queued_s

    def on_shard_counts(self, *, waiting: int, held: int) -> None:
        self.counted.set()

    def on_shard_leased(self) -> None:
        self.taken += 1
        self.leased.set()

    def on_shard_released(self, end: ShardEnd, *, seconds: float) -> None:
        assert seconds >= 0
        self.ends[end] += 1

    def on_question_settled(self, failure: str) -> None:
        self.outcomes[failure] += 1


async def test_every_shard_and_every_question_is_observed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    observer, answerer = RecordingObserver(), SteadyAnswerer(failing=(("number 7", 1),))
    seen: set[tuple[str, str]] = set()

    def wrap(answerer_: Answerer) -> Answerer:
        class Seen(SteadyAnswerer):
            def stream_answer(self, request: AnswerRequest):  # type: ignore[no-untyped-def, override]
                call = current_call()
                assert call
                seen.add((request.request_id, call.request_id))
                return answerer_.stream_answer(request)

        return Seen()

    caplog.set_level(logging.INFO, "scaar.shards")
    async with open_evaluator(
        SETTINGS,
        answerer,
        database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
        lab_index=str,
        hooks=EvaluationHooks(observer, wrap),
    ) as evaluator:
        created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        await ended(evaluator, created)
    assert observer.taken == observer.ends.total() == 3
    assert {*observer.ends} <= {ShardEnd.FINISHED, ShardEnd.DROPPED, ShardEnd.RELEASED}
    assert observer.outcomes == {"": 30, "BACKEND_UNAVAILABLE": 1}
    assert seen == {("one", "one")}
    messages = [each.getMessage() for each in caplog.records]
    assert len(messages) == 6
    assert all(f" of evaluation {created.id}: " in each for each in messages)
    assert f"shard 0 of evaluation {created.id}: leased, questions 0 to 3, attempt 1" in messages


async def test_an_interrupted_shard_is_observed_as_given_back(tmp_path: Path) -> None:
    observer, answerer = RecordingObserver(), SteadyAnswerer()
    answerer.answering.clear()
    async with open_evaluator(
        SETTINGS,
        answerer,
        database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
        lab_index=str,
        hooks=EvaluationHooks(observer),
    ) as evaluator:
        await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        await observer.leased.wait()
    assert observer.ends == {ShardEnd.RELEASED: 1}


async def test_the_age_of_an_evaluation_that_cannot_start_is_observed(tmp_path: Path) -> None:
    url, observer = f"sqlite:///{tmp_path}/evaluations.sqlite", RecordingObserver()
    away = ScriptedAnswerer(lambda request: [])
    async with open_evaluator(SETTINGS, away, database_url=url, lab_index=str) as evaluator:
        created = await evaluator.create_evaluation(
            replace(REQUEST, request_id="a"), sent(QUESTIONS)
        )
        assert created.state is EvaluationState.QUEUED
        async with open_checked_database(url, SCHEMA) as database:
            later = 4_000_000_000.0
            async with publish_counts(database, observer, now=lambda: later, every_s=0.01):
                await observer.counted.wait()
    assert observer.states[EvaluationState.QUEUED] == 1
    assert observer.oldest_s > 1_000_000_000.0
