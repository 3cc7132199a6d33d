"""The rows of evaluations: their specification and their progress."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from scaar.core.errors import AlreadyExists, NotFound, Overloaded
from scaar.core.evaluations import EvaluationError, EvaluationState, FirstPassProgress
from scaar.database.database import Database, run_to_end
from scaar.evaluator.records import Question, Setting
from scaar.evaluator.specification import EvaluationSpec, PlannedSettings
from scaar.evaluator.store.database.tables import EVALUATIONS, PREDICTIONS, QUESTIONS, TENANTS
from scaar.evaluator.store.differences import changed
from scaar.evaluator.store.record_json import RecordJson

UNFINISHED = tuple(state.value for state in EvaluationState if not state.ended)
_SPEC = RecordJson(EvaluationSpec)
_PLANNED = RecordJson(PlannedSettings)
_QUESTION = RecordJson(Question)
_BATCH = 1_000
"""Maximum number of rows of questions in one statement."""


@dataclass(frozen=True, slots=True)
class StoredEvaluation:
    """The row of an evaluation; ``number`` is its position, times are seconds since 1970."""

    number: int
    id: str
    tenant: str
    request_id: str
    state: EvaluationState
    spec: EvaluationSpec
    total: int
    created_at: float
    planned: PlannedSettings | None = None
    started_at: float | None = None
    ended_at: float | None = None
    error: EvaluationError | None = None
    done: int = 0
    failed: int = 0
    first_pass: FirstPassProgress | None = None

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that it runs: those of its request until it starts."""
        return self.spec.settings if self.planned is None else self.planned.settings


@dataclass(frozen=True, slots=True)
class NewEvaluation:
    """An evaluation to be stored; ``settings`` is the number of settings that it will run."""

    id: str
    tenant: str
    request_id: str
    spec: EvaluationSpec
    questions: Sequence[Question]
    settings: int


@run_to_end
async def add_evaluation(
    database: Database, new: NewEvaluation, *, now: float, max_unfinished: int
) -> StoredEvaluation:
    """Queue an evaluation; return the existing one if the tenant has used the request id for it.

    Raises:
        AlreadyExists: the request id was used for another request; names the differences.
        Overloaded: the tenant has ``max_unfinished`` unfinished evaluations.
    """
    async with database.writing() as connection:
        tenant = database.insert(TENANTS).values(name=new.tenant).on_conflict_do_nothing()
        await connection.execute(tenant)
        await lock_tenant(connection, new.tenant)
        existing = sa.and_(
            EVALUATIONS.c.tenant == new.tenant, EVALUATIONS.c.request_id == new.request_id
        )
        if found := await _selected(connection, existing):
            _require_the_same(found[0], new)
            return found[0]
        await require_room(connection, new.tenant, max_unfinished)
        await _insert(connection, new, now)
        return (await _selected(connection, EVALUATIONS.c.id == new.id))[0]


@run_to_end
async def add_first_pass(
    database: Database,
    parent: StoredEvaluation,
    spec: EvaluationSpec,
    questions: Sequence[Question],
    *,
    now: float,
) -> None:
    """Queue the first pass of an evaluation, unless the evaluation has one or is not queued."""
    name = f"{parent.id}:first-pass"
    new = NewEvaluation(name, parent.tenant, name, spec, questions, len(spec.settings))
    async with database.writing() as connection:
        waiting = sa.select(EVALUATIONS.c.state).where(EVALUATIONS.c.number == parent.number)
        if await connection.scalar(waiting.with_for_update()) != EvaluationState.QUEUED.value:
            return
        if await _rows(connection, EVALUATIONS.c.parent == parent.number):
            return
        await _insert(connection, new, now, parent.number)


@run_to_end
async def get_evaluation(
    database: Database, evaluation_id: str, *, tenant: str | None = None
) -> StoredEvaluation:
    """Return the evaluation with an id, and of a tenant if one is given.

    Raises:
        NotFound: there is no such evaluation.
    """
    condition = sa.and_(EVALUATIONS.c.id == evaluation_id, _visible_to(tenant))
    async with database.reading() as connection:
        found = await _selected(connection, condition)
    if not found:
        raise NotFound(f"there is no evaluation {evaluation_id!r}", evaluation_id=evaluation_id)
    return found[0]


@run_to_end
async def numbered_evaluation(database: Database, number: int) -> StoredEvaluation:
    """Return the evaluation with a number, without the counts of its predictions.

    Raises:
        NotFound: the evaluation was deleted.
    """
    async with database.reading() as connection:
        rows = await _rows(connection, EVALUATIONS.c.number == number)
    if not rows:
        raise _gone(number)
    return _stored(rows[0])


@run_to_end
async def state_of(database: Database, number: int) -> EvaluationState:
    """Return the state of the evaluation with a number.

    Raises:
        NotFound: the evaluation was deleted.
    """
    chosen = sa.select(EVALUATIONS.c.state).where(EVALUATIONS.c.number == number)
    async with database.reading() as connection:
        found = await connection.scalar(chosen)
    if found is None:
        raise _gone(number)
    return EvaluationState(found)


@run_to_end
async def page_of_evaluations(
    database: Database,
    *,
    states: Sequence[EvaluationState],
    before: int | None,
    size: int,
    tenant: str | None = None,
) -> tuple[StoredEvaluation, ...]:
    """Return at most ``size`` evaluations in these states, the newest first, older than ``before``.

    If a tenant is given, only its own are returned.
    """
    condition = _visible_to(tenant)
    if states:
        condition = sa.and_(condition, EVALUATIONS.c.state.in_([each.value for each in states]))
    if before is not None:
        condition = sa.and_(condition, EVALUATIONS.c.number < before)
    async with database.reading() as connection:
        return await _selected(connection, condition, size)


@run_to_end
async def unfinished_evaluations(database: Database) -> tuple[StoredEvaluation, ...]:
    """Return queued and running evaluations, the oldest first, without counts of predictions.

    An evaluation that waits for its first pass is not returned.
    """
    passes = EVALUATIONS.alias()
    waiting = sa.exists().where(
        passes.c.parent == EVALUATIONS.c.number, passes.c.state.in_(UNFINISHED)
    )
    async with database.reading() as connection:
        rows = await _rows(connection, sa.and_(EVALUATIONS.c.state.in_(UNFINISHED), ~waiting))
    return tuple(map(_stored, rows[::-1]))


@run_to_end
async def running_evaluations(database: Database) -> tuple[int, ...]:
    """Return the numbers of the running evaluations, the oldest first."""
    chosen = sa.select(EVALUATIONS.c.number).where(
        EVALUATIONS.c.state == EvaluationState.RUNNING.value
    )
    async with database.reading() as connection:
        return tuple((await connection.scalars(chosen.order_by(EVALUATIONS.c.number))).all())


@run_to_end
async def first_pass_of(database: Database, number: int) -> StoredEvaluation | None:
    """Return the first pass of an evaluation; None if it has none."""
    async with database.reading() as connection:
        found = await _selected(connection, EVALUATIONS.c.parent == number)
    return found[0] if found else None


@run_to_end
async def questions_of(
    database: Database, number: int, *, first: int = 0, last: int | None = None
) -> tuple[Question, ...]:
    """Return the questions of an evaluation at the positions [first, last), in order."""
    chosen = sa.select(QUESTIONS.c.record).where(
        QUESTIONS.c.evaluation == number, QUESTIONS.c.position >= first
    )
    if last is not None:
        chosen = chosen.where(QUESTIONS.c.position < last)
    async with database.reading() as connection:
        rows = await connection.scalars(chosen.order_by(QUESTIONS.c.position))
        records = rows.all()
    return tuple(_QUESTION.read(each.encode(), "a row of questions") for each in records)


@run_to_end
async def position_of_question(database: Database, number: int, question_id: str) -> int | None:
    """Return the position of a question in an evaluation; None if there is no such question."""
    chosen = sa.select(QUESTIONS.c.position).where(
        QUESTIONS.c.evaluation == number, QUESTIONS.c.id == question_id
    )
    async with database.reading() as connection:
        position: int | None = await connection.scalar(chosen)
    return position


def _visible_to(tenant: str | None) -> sa.ColumnElement[bool]:
    """Whether a caller sees the evaluation: of its tenant, if one is given, and no first pass."""
    listed = EVALUATIONS.c.parent.is_(None)
    return listed if tenant is None else sa.and_(listed, EVALUATIONS.c.tenant == tenant)


def _gone(number: int) -> NotFound:
    return NotFound(f"evaluation number {number} was deleted")


async def _rows(
    connection: AsyncConnection, condition: sa.ColumnElement[bool], size: int | None = None
) -> Sequence[sa.RowMapping]:
    """The rows, the newest first."""
    chosen = (
        sa.select(EVALUATIONS).where(condition).order_by(EVALUATIONS.c.number.desc()).limit(size)
    )
    return (await connection.execute(chosen)).mappings().all()


async def _selected(
    connection: AsyncConnection, condition: sa.ColumnElement[bool], size: int | None = None
) -> tuple[StoredEvaluation, ...]:
    rows = await _rows(connection, condition, size)
    numbers = [row["number"] for row in rows]
    passes = await _rows(connection, EVALUATIONS.c.parent.in_(numbers)) if numbers else ()
    counts = await _counts(connection, [*numbers, *(row["number"] for row in passes)])
    first_passes = {
        row["parent"]: FirstPassProgress(row["total"], counts.get(row["number"], (0, 0))[0])
        for row in passes
    }
    found = []
    for row in rows:
        done, failed = counts.get(row["number"], (0, 0))
        first_pass = first_passes.get(row["number"])
        found.append(replace(_stored(row), done=done, failed=failed, first_pass=first_pass))
    return tuple(found)


async def _counts(
    connection: AsyncConnection, numbers: Sequence[int]
) -> Mapping[int, tuple[int, int]]:
    """The number of predictions and of failed ones by evaluation."""
    failed = sa.func.sum(sa.case((PREDICTIONS.c.failed, 1), else_=0))
    counted = (
        sa.select(PREDICTIONS.c.evaluation, sa.func.count(), failed)
        .where(PREDICTIONS.c.evaluation.in_(numbers), PREDICTIONS.c.settled)
        .group_by(PREDICTIONS.c.evaluation)
    )
    rows = (await connection.execute(counted)).all() if numbers else ()
    return {number: (done, int(lost)) for number, done, lost in rows}


def _stored(row: sa.RowMapping) -> StoredEvaluation:
    where = f"evaluation {row['id']}"
    error = None
    if row["error_reason"] is not None:
        error = EvaluationError(row["error_reason"], row["error_message"] or "")
    return StoredEvaluation(
        number=row["number"],
        id=row["id"],
        tenant=row["tenant"],
        request_id=row["request_id"],
        state=EvaluationState(row["state"]),
        spec=_SPEC.read(row["specification"].encode(), where),
        total=row["total"],
        created_at=row["created_at"],
        planned=None if row["planned"] is None else _PLANNED.read(row["planned"].encode(), where),
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        error=error,
    )


def _require_the_same(stored: StoredEvaluation, new: NewEvaluation) -> None:
    before, now = _SPEC.plain(stored.spec), _SPEC.plain(new.spec)
    if other := changed(before, now, ignored=("dataset.path",)):
        text = f"the request id {new.request_id!r} belongs to another request: {'; '.join(other)}"
        raise AlreadyExists(text, evaluation_id=stored.id)


async def lock_tenant(connection: AsyncConnection, tenant: str) -> None:
    """Lock the row of a tenant until the transaction ends."""
    locked = sa.select(TENANTS).where(TENANTS.c.name == tenant).with_for_update()
    await connection.execute(locked)


async def require_room(connection: AsyncConnection, tenant: str, limit: int) -> None:
    """Check that a tenant, whose row is locked, can have another unfinished evaluation.

    Raises:
        Overloaded: the tenant has ``limit`` unfinished evaluations.
    """
    counted = (
        sa.select(sa.func.count())
        .select_from(EVALUATIONS)
        .where(
            EVALUATIONS.c.tenant == tenant,
            EVALUATIONS.c.state.in_(UNFINISHED),
            EVALUATIONS.c.parent.is_(None),
        )
    )
    if (count := (await connection.scalar(counted)) or 0) >= limit:
        text = f"tenant {tenant!r} has {count} unfinished evaluations; the maximum is {limit}"
        raise Overloaded(text, retry_after_s=30.0, tenant=tenant, limit=str(limit))


async def _insert(
    connection: AsyncConnection, new: NewEvaluation, now: float, parent: int | None = None
) -> None:
    made = await connection.execute(
        sa.insert(EVALUATIONS)
        .values(
            id=new.id,
            tenant=new.tenant,
            request_id=new.request_id,
            state=EvaluationState.QUEUED.value,
            specification=_SPEC.line(new.spec).decode(),
            total=len(new.questions) * new.settings,
            created_at=now,
            parent=parent,
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
    for at in range(0, len(rows), _BATCH):
        await connection.execute(sa.insert(QUESTIONS), rows[at : at + _BATCH])
