"""The rows of evaluations: what was asked for, and how far each is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from scaar.core.errors import AlreadyExists, NotFound, Overloaded
from scaar.core.evaluations import EvaluationError, EvaluationState
from scaar.evaluator.asked import Asked
from scaar.evaluator.records import Question
from scaar.evaluator.store.database.opening import Database, to_its_end
from scaar.evaluator.store.database.tables import EVALUATIONS, PREDICTIONS, QUESTIONS, TENANTS
from scaar.evaluator.store.differences import changed
from scaar.evaluator.store.record_json import RecordJson

UNFINISHED = tuple(state.value for state in EvaluationState if not state.ended)
_ASKED = RecordJson(Asked)
_QUESTION = RecordJson(Question)
_AT_ONCE = 1_000
"""Rows of questions that are written in one statement."""


@dataclass(frozen=True, slots=True)
class StoredEvaluation:
    """An evaluation as its row has it; ``number`` is its place, times are seconds since 1970."""

    number: int
    id: str
    tenant: str
    request_id: str
    state: EvaluationState
    asked: Asked
    wanted: int
    created_at: float
    started_at: float | None = None
    ended_at: float | None = None
    error: EvaluationError | None = None
    done: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class NewEvaluation:
    """An evaluation that is to be kept."""

    id: str
    tenant: str
    request_id: str
    asked: Asked
    questions: Sequence[Question]


@to_its_end
async def add_evaluation(
    database: Database, new: NewEvaluation, *, now: float, most_unfinished: int
) -> StoredEvaluation:
    """The evaluation, queued; the one that is there where the tenant used the request id for it.

    Raises:
        AlreadyExists: the request id was used for another, and what is different.
        Overloaded: the tenant has so many unfinished ones already.
    """
    async with database.writing() as connection:
        tenant = database.insert(TENANTS).values(name=new.tenant).on_conflict_do_nothing()
        await connection.execute(tenant)
        locked = sa.select(TENANTS).where(TENANTS.c.name == new.tenant).with_for_update()
        await connection.execute(locked)
        there = sa.and_(
            EVALUATIONS.c.tenant == new.tenant, EVALUATIONS.c.request_id == new.request_id
        )
        if found := await _selected(connection, there):
            _require_the_same(found[0], new)
            return found[0]
        await _require_room(connection, new.tenant, most_unfinished)
        await _insert(connection, new, now)
        return (await _selected(connection, EVALUATIONS.c.id == new.id))[0]


@to_its_end
async def get_evaluation(
    database: Database, evaluation_id: str, *, tenant: str | None = None
) -> StoredEvaluation:
    """The evaluation of that id; where a tenant is given, among its own alone.

    Raises:
        NotFound: there is none.
    """
    wanted = sa.and_(EVALUATIONS.c.id == evaluation_id, _of_tenant(tenant))
    async with database.reading() as connection:
        found = await _selected(connection, wanted)
    if not found:
        raise NotFound(f"there is no evaluation {evaluation_id!r}", evaluation_id=evaluation_id)
    return found[0]


@to_its_end
async def numbered_evaluation(database: Database, number: int) -> StoredEvaluation:
    """The evaluation of that number, its predictions uncounted.

    Raises:
        NotFound: it is no more there.
    """
    async with database.reading() as connection:
        rows = await _rows(connection, EVALUATIONS.c.number == number)
    if not rows:
        raise _gone(number)
    return _stored(rows[0])


@to_its_end
async def state_of(database: Database, number: int) -> EvaluationState:
    """The state of the evaluation of that number.

    Raises:
        NotFound: it is no more there.
    """
    chosen = sa.select(EVALUATIONS.c.state).where(EVALUATIONS.c.number == number)
    async with database.reading() as connection:
        found = await connection.scalar(chosen)
    if found is None:
        raise _gone(number)
    return EvaluationState(found)


@to_its_end
async def page_of_evaluations(
    database: Database,
    *,
    states: Sequence[EvaluationState],
    before: int | None,
    size: int,
    tenant: str | None = None,
) -> tuple[StoredEvaluation, ...]:
    """At most so many of those in these states, the newest first, older than ``before``.

    Where a tenant is given, they are among its own.
    """
    wanted = _of_tenant(tenant)
    if states:
        wanted = sa.and_(wanted, EVALUATIONS.c.state.in_([each.value for each in states]))
    if before is not None:
        wanted = sa.and_(wanted, EVALUATIONS.c.number < before)
    async with database.reading() as connection:
        return await _selected(connection, wanted, size)


@to_its_end
async def unfinished_evaluations(database: Database) -> tuple[StoredEvaluation, ...]:
    """Those that are queued or running, the oldest first, their predictions uncounted."""
    async with database.reading() as connection:
        rows = await _rows(connection, EVALUATIONS.c.state.in_(UNFINISHED))
    return tuple(map(_stored, rows[::-1]))


@to_its_end
async def questions_of(
    database: Database, number: int, *, first: int = 0, last: int | None = None
) -> tuple[Question, ...]:
    """The questions of an evaluation in their order, those of positions [first, last)."""
    chosen = sa.select(QUESTIONS.c.record).where(
        QUESTIONS.c.evaluation == number, QUESTIONS.c.position >= first
    )
    if last is not None:
        chosen = chosen.where(QUESTIONS.c.position < last)
    async with database.reading() as connection:
        rows = await connection.scalars(chosen.order_by(QUESTIONS.c.position))
        records = rows.all()
    return tuple(_QUESTION.read(each.encode(), "a row of questions") for each in records)


@to_its_end
async def position_of_question(database: Database, number: int, question_id: str) -> int | None:
    """Where the question of that id stands in an evaluation; None where it has none."""
    chosen = sa.select(QUESTIONS.c.position).where(
        QUESTIONS.c.evaluation == number, QUESTIONS.c.id == question_id
    )
    async with database.reading() as connection:
        position: int | None = await connection.scalar(chosen)
    return position


def _of_tenant(tenant: str | None) -> sa.ColumnElement[bool]:
    return sa.true() if tenant is None else EVALUATIONS.c.tenant == tenant


def _gone(number: int) -> NotFound:
    return NotFound(f"evaluation number {number} is no more there")


async def _rows(
    connection: AsyncConnection, wanted: sa.ColumnElement[bool], size: int | None = None
) -> Sequence[sa.RowMapping]:
    """The newest first."""
    chosen = sa.select(EVALUATIONS).where(wanted).order_by(EVALUATIONS.c.number.desc()).limit(size)
    return (await connection.execute(chosen)).mappings().all()


async def _selected(
    connection: AsyncConnection, wanted: sa.ColumnElement[bool], size: int | None = None
) -> tuple[StoredEvaluation, ...]:
    rows = await _rows(connection, wanted, size)
    counts = await _counts(connection, [row["number"] for row in rows])
    found = []
    for row in rows:
        done, failed = counts.get(row["number"], (0, 0))
        found.append(replace(_stored(row), done=done, failed=failed))
    return tuple(found)


async def _counts(
    connection: AsyncConnection, numbers: Sequence[int]
) -> Mapping[int, tuple[int, int]]:
    """How many predictions are there, and how many of these failed, by the evaluation."""
    failed = sa.func.sum(sa.case((PREDICTIONS.c.failed, 1), else_=0))
    counted = (
        sa.select(PREDICTIONS.c.evaluation, sa.func.count(), failed)
        .where(PREDICTIONS.c.evaluation.in_(numbers), PREDICTIONS.c.settled)
        .group_by(PREDICTIONS.c.evaluation)
    )
    rows = (await connection.execute(counted)).all() if numbers else ()
    return {number: (done, int(lost)) for number, done, lost in rows}


def _stored(row: sa.RowMapping) -> StoredEvaluation:
    error = None
    if row["error_reason"] is not None:
        error = EvaluationError(row["error_reason"], row["error_message"] or "")
    return StoredEvaluation(
        number=row["number"],
        id=row["id"],
        tenant=row["tenant"],
        request_id=row["request_id"],
        state=EvaluationState(row["state"]),
        asked=_ASKED.read(row["asked"].encode(), f"evaluation {row['id']}"),
        wanted=row["wanted"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        error=error,
    )


def _require_the_same(there: StoredEvaluation, new: NewEvaluation) -> None:
    before, now = _ASKED.plain(there.asked), _ASKED.plain(new.asked)
    if other := changed(before, now, but=("dataset.path",)):
        text = f"the request id {new.request_id!r} is of another request: {'; '.join(other)}"
        raise AlreadyExists(text, evaluation_id=there.id)


async def _require_room(connection: AsyncConnection, tenant: str, most: int) -> None:
    counted = (
        sa.select(sa.func.count())
        .select_from(EVALUATIONS)
        .where(EVALUATIONS.c.tenant == tenant, EVALUATIONS.c.state.in_(UNFINISHED))
    )
    if (count := (await connection.scalar(counted)) or 0) >= most:
        text = f"tenant {tenant!r} has {count} evaluations that have not ended, and may have {most}"
        raise Overloaded(text, retry_after_s=30.0, tenant=tenant, limit=str(most))


async def _insert(connection: AsyncConnection, new: NewEvaluation, now: float) -> None:
    made = await connection.execute(
        sa.insert(EVALUATIONS)
        .values(
            id=new.id,
            tenant=new.tenant,
            request_id=new.request_id,
            state=EvaluationState.QUEUED.value,
            asked=_ASKED.line(new.asked).decode(),
            wanted=len(new.questions) * len(new.asked.settings),
            created_at=now,
        )
        .returning(EVALUATIONS.c.number)
    )
    number: int = made.scalar_one()
    rows = [
        {
            "evaluation": number,
            "position": at,
            "id": each.id,
            "record": _QUESTION.line(each).decode(),
        }
        for at, each in enumerate(new.questions)
    ]
    for at in range(0, len(rows), _AT_ONCE):
        await connection.execute(sa.insert(QUESTIONS), rows[at : at + _AT_ONCE])
