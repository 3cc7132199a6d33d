from dataclasses import replace

import pytest

from scaar.core.errors import AlreadyExists, NotFound, Overloaded
from scaar.core.evaluations import EvaluationError, EvaluationState, FirstPassProgress
from scaar.database.database import Database
from scaar.evaluator.results import LeftOut
from scaar.evaluator.specification import PlannedSettings
from scaar.evaluator.store.database.counts import count_evaluations
from scaar.evaluator.store.database.evaluations import (
    NewEvaluation,
    add_evaluation,
    add_first_pass,
    first_pass_of,
    get_evaluation,
    numbered_evaluation,
    page_of_evaluations,
    position_of_question,
    questions_of,
    unfinished_evaluations,
)
from scaar.evaluator.store.database.transitions import (
    StartedEvaluation,
    cancel,
    delete_ended,
    fail,
    start,
    started_evaluation_of,
)
from scaar.testing.evaluations import EVALUATION, QUESTIONS

from .stored import SPEC, queued, running

WHY = EvaluationError("NOT_FOUND", "there is no index")


async def test_a_stored_evaluation_is_read_back_unchanged(database: Database) -> None:
    stored = await queued(database, now=12.5)
    assert stored == await get_evaluation(database, "a")
    assert (stored.spec, stored.state, stored.created_at) == (SPEC, EvaluationState.QUEUED, 12.5)
    assert stored.total == len(QUESTIONS) * len(SPEC.settings)
    assert await questions_of(database, stored.number) == QUESTIONS
    assert await questions_of(database, stored.number, first=1) == QUESTIONS[1:]
    assert await questions_of(database, stored.number, last=1) == QUESTIONS[:1]
    with pytest.raises(NotFound, match="there is no evaluation 'b'"):
        await get_evaluation(database, "b")


async def test_a_request_id_is_of_one_request_and_its_tenant(database: Database) -> None:
    stored = await queued(database)
    again = NewEvaluation("b", "default", "a", SPEC, QUESTIONS, len(SPEC.settings))
    assert await add_evaluation(database, again, now=200.0, max_unfinished=1) == stored
    other = replace(again, spec=replace(SPEC, index="mine"))
    with pytest.raises(AlreadyExists, match="index is 'lab' in the stored one and 'mine' now"):
        await add_evaluation(database, other, now=200.0, max_unfinished=9)
    theirs = replace(other, tenant="others")
    made = await add_evaluation(database, theirs, now=200.0, max_unfinished=1)
    assert (made.id, made.tenant) == ("b", "others")


async def test_the_same_questions_of_a_file_that_was_moved_are_the_same(
    database: Database,
) -> None:
    stored = await queued(database)
    moved = replace(SPEC, dataset=replace(SPEC.dataset, path="/elsewhere"))
    again = NewEvaluation("b", "default", "a", moved, QUESTIONS, len(SPEC.settings))
    assert await add_evaluation(database, again, now=1.0, max_unfinished=9) == stored


async def test_a_place_is_free_again_when_one_has_ended(database: Database) -> None:
    first = await queued(database, "a", max_unfinished=2)
    await running(database, "b")
    with pytest.raises(Overloaded, match="tenant 'default' has 2 unfinished evaluations"):
        await queued(database, "c", max_unfinished=2)
    await cancel(database, first.number, now=1.0)
    assert (await queued(database, "c", max_unfinished=2)).id == "c"


async def test_each_state_is_come_to_once(database: Database) -> None:
    stored = await queued(database)
    started, now = StartedEvaluation(EVALUATION, "lab-1"), 5.0
    assert await start(database, stored.number, started, shards=((0, 2),), now=now)
    assert not await start(database, stored.number, started, shards=((0, 2),), now=now)
    assert await started_evaluation_of(database, stored.number) == started
    assert await fail(database, stored.number, WHY, now=6.0)
    assert not await cancel(database, stored.number, now=7.0)
    assert not await fail(database, stored.number, EvaluationError("X", "y"), now=8.0)
    ended = await get_evaluation(database, "a")
    assert (ended.state, ended.error) == (EvaluationState.FAILED, WHY)
    assert (ended.started_at, ended.ended_at) == (5.0, 6.0)


async def test_unfinished_evaluations_are_sorted_oldest_first_and_pages_newest_first(
    database: Database,
) -> None:
    for name in "abc":
        await queued(database, name, now=0.0)
    await cancel(database, (await get_evaluation(database, "b")).number, now=1.0)
    assert [each.id for each in await unfinished_evaluations(database)] == ["a", "c"]
    page = await page_of_evaluations(database, states=(), before=None, size=2)
    assert [each.id for each in page] == ["c", "b"]
    rest = await page_of_evaluations(database, states=(), before=page[-1].number, size=2)
    assert [each.id for each in rest] == ["a"]


async def test_what_ended_long_ago_is_forgotten_with_all_that_is_of_it(
    database: Database,
) -> None:
    key = await running(database, "old")
    await running(database, "new")
    await queued(database, "waiting", now=0.0)
    await cancel(database, key.evaluation, now=10.0)
    await cancel(database, key.evaluation + 1, now=30.0)
    assert await delete_ended(database, before=20.0) == 1
    assert await questions_of(database, key.evaluation) == ()
    page = await page_of_evaluations(database, states=(), before=None, size=9)
    assert [each.id for each in page] == ["waiting", "new"]


async def test_an_evaluation_waits_for_its_first_pass_which_is_not_listed(
    database: Database,
) -> None:
    stored = await queued(database)
    for _ in range(2):
        await add_first_pass(database, stored, SPEC, QUESTIONS[:1], now=101.0)
    found = await first_pass_of(database, stored.number)
    assert found is not None
    assert (found.total, found.request_id) == (len(SPEC.settings), "a:first-pass")
    assert await unfinished_evaluations(database) == (await numbered_evaluation(database, 2),)
    shown = await get_evaluation(database, "a")
    assert shown.first_pass == FirstPassProgress(total=len(SPEC.settings), done=0)
    assert await page_of_evaluations(database, states=(), before=None, size=9) == (shown,)
    with pytest.raises(NotFound):
        await get_evaluation(database, found.id)
    # It takes no place of the tenant.
    await queued(database, "b", max_unfinished=2)
    assert (await count_evaluations(database)).by_state[EvaluationState.QUEUED] == 2
    assert await fail(database, found.number, WHY, now=102.0)
    assert [each.id for each in await unfinished_evaluations(database)] == ["a", "b"]


async def test_a_cancelled_evaluation_cancels_its_first_pass(database: Database) -> None:
    stored = await queued(database)
    await add_first_pass(database, stored, SPEC, QUESTIONS, now=101.0)
    assert await cancel(database, stored.number, now=102.0)
    found = await first_pass_of(database, stored.number)
    assert found is not None
    assert (found.state, found.ended_at) == (EvaluationState.CANCELLED, 102.0)
    assert await unfinished_evaluations(database) == ()
    late = await queued(database, "b")
    assert await cancel(database, late.number, now=103.0)
    await add_first_pass(database, late, SPEC, QUESTIONS, now=104.0)
    assert await first_pass_of(database, late.number) is None


async def test_a_started_evaluation_runs_its_own_settings(database: Database) -> None:
    stored = await queued(database)
    settings, left_out = SPEC.settings[:1], (LeftOut(SPEC.settings[1], "attention"),)
    evaluation = replace(EVALUATION, settings=settings, left_out=left_out)
    started = StartedEvaluation(evaluation, "lab-1")
    assert await start(database, stored.number, started, shards=((0, 2),), now=101.0)
    found = await get_evaluation(database, "a")
    assert (found.settings, found.total) == (settings, len(QUESTIONS))
    assert found.planned == PlannedSettings(settings, left_out)


async def test_a_question_is_found_by_its_id(database: Database) -> None:
    stored = await queued(database)
    last = QUESTIONS[-1]
    assert await position_of_question(database, stored.number, last.id) == len(QUESTIONS) - 1
    assert await position_of_question(database, stored.number, "nobody") is None
