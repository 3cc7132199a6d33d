from dataclasses import replace

import pytest

from scaar.core.errors import AlreadyExists, NotFound, Overloaded
from scaar.core.evaluations import EvaluationError, EvaluationState
from scaar.evaluator.store.database.evaluations import (
    NewEvaluation,
    add_evaluation,
    get_evaluation,
    page_of_evaluations,
    position_of_question,
    questions_of,
    unfinished_evaluations,
)
from scaar.evaluator.store.database.opening import Database
from scaar.evaluator.store.database.transitions import (
    Begun,
    begin,
    begun_of,
    cancel,
    fail,
    forget_ended,
)
from scaar.testing.evaluations import EVALUATION, QUESTIONS

from .stored import ASKED, queued, running

WHY = EvaluationError("NOT_FOUND", "there is no index")


async def test_what_is_kept_comes_back_as_it_was(database: Database) -> None:
    stored = await queued(database, now=12.5)
    assert stored == await get_evaluation(database, "a")
    assert (stored.asked, stored.state, stored.created_at) == (ASKED, EvaluationState.QUEUED, 12.5)
    assert stored.wanted == len(QUESTIONS) * len(ASKED.settings)
    assert await questions_of(database, stored.number) == QUESTIONS
    assert await questions_of(database, stored.number, first=1) == QUESTIONS[1:]
    assert await questions_of(database, stored.number, last=1) == QUESTIONS[:1]
    with pytest.raises(NotFound, match="there is no evaluation 'b'"):
        await get_evaluation(database, "b")


async def test_a_request_id_is_of_one_request_and_its_tenant(database: Database) -> None:
    stored = await queued(database)
    again = NewEvaluation("b", "default", "a", ASKED, QUESTIONS)
    assert await add_evaluation(database, again, now=200.0, most_unfinished=1) == stored
    other = replace(again, asked=replace(ASKED, index="mine"))
    with pytest.raises(AlreadyExists, match="index is 'lab' there and 'mine' now"):
        await add_evaluation(database, other, now=200.0, most_unfinished=9)
    theirs = replace(other, tenant="others")
    made = await add_evaluation(database, theirs, now=200.0, most_unfinished=1)
    assert (made.id, made.tenant) == ("b", "others")


async def test_the_same_questions_of_a_file_that_was_moved_are_the_same(
    database: Database,
) -> None:
    stored = await queued(database)
    moved = replace(ASKED, dataset=replace(ASKED.dataset, path="/elsewhere"))
    again = NewEvaluation("b", "default", "a", moved, QUESTIONS)
    assert await add_evaluation(database, again, now=1.0, most_unfinished=9) == stored


async def test_a_place_is_free_again_when_one_has_ended(database: Database) -> None:
    first = await queued(database, "a", most_unfinished=2)
    await running(database, "b")
    with pytest.raises(Overloaded, match="tenant 'default' has 2 evaluations"):
        await queued(database, "c", most_unfinished=2)
    await cancel(database, first.number, now=1.0)
    assert (await queued(database, "c", most_unfinished=2)).id == "c"


async def test_each_state_is_come_to_once(database: Database) -> None:
    stored = await queued(database)
    begun, now = Begun(EVALUATION, "lab-1"), 5.0
    assert await begin(database, stored.number, begun, shards=((0, 2),), now=now)
    assert not await begin(database, stored.number, begun, shards=((0, 2),), now=now)
    assert await begun_of(database, stored.number) == begun
    assert await fail(database, stored.number, WHY, now=6.0)
    assert not await cancel(database, stored.number, now=7.0)
    assert not await fail(database, stored.number, EvaluationError("X", "y"), now=8.0)
    ended = await get_evaluation(database, "a")
    assert (ended.state, ended.error) == (EvaluationState.FAILED, WHY)
    assert (ended.started_at, ended.ended_at) == (5.0, 6.0)


async def test_the_unfinished_are_told_the_oldest_first_and_pages_the_newest(
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
    assert await forget_ended(database, before=20.0) == 1
    assert await questions_of(database, key.evaluation) == ()
    page = await page_of_evaluations(database, states=(), before=None, size=9)
    assert [each.id for each in page] == ["waiting", "new"]


async def test_a_question_is_found_by_its_id(database: Database) -> None:
    stored = await queued(database)
    last = QUESTIONS[-1]
    assert await position_of_question(database, stored.number, last.id) == len(QUESTIONS) - 1
    assert await position_of_question(database, stored.number, "nobody") is None
