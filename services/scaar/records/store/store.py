"""Records in the database: writing, reading, deleting and summarizing them."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from scaar.core.records import (
    AnswerRecord,
    RecordFilter,
    RecordGroup,
    RecordMoments,
    RecordSummary,
    Verdict,
)
from scaar.database.database import Database, run_to_end
from scaar.records.store.filters import conditions_of
from scaar.records.store.rows import COLUMNS, Row, record_of, summary_of, time_of
from scaar.records.store.tables import CONTENTS, FEEDBACK, RECORDS

_JOINED = RECORDS.outerjoin(FEEDBACK, FEEDBACK.c.record == RECORDS.c.number)
_SUMS = (
    "retrievals",
    "generated_tokens",
    "prompt_tokens",
    "judged_drafts",
    "uncertain_drafts",
    "sentences",
    "degraded_sentences",
)
_BATCH = 500
"""Maximum number of records that one statement deletes."""


@run_to_end
async def add_records(database: Database, rows: Sequence[Row]) -> None:
    """Add records in one transaction. Records that exist are left as they are."""
    added = database.insert(RECORDS).on_conflict_do_nothing(index_elements=["id"])
    content = sa.bindparam("record_content", type_=CONTENTS.c.content.type)
    number = sa.select(RECORDS.c.number, content).where(RECORDS.c.id == sa.bindparam("record_id"))
    contents = (
        database.insert(CONTENTS)
        .from_select(["record", "content"], number)
        .on_conflict_do_nothing(index_elements=["record"])
    )
    async with database.writing() as connection:
        await connection.execute(added, [each.columns for each in rows])
        await connection.execute(
            contents,
            [{"record_id": each.columns["id"], "record_content": each.content} for each in rows],
        )


@run_to_end
async def find_record(database: Database, record_id: str) -> AnswerRecord | None:
    """Return a record; None if it does not exist."""
    query = (
        sa.select(*COLUMNS, CONTENTS.c.content.label("record_content"))
        .select_from(_JOINED.join(CONTENTS, CONTENTS.c.record == RECORDS.c.number))
        .where(RECORDS.c.id == record_id)
    )
    async with database.reading() as connection:
        row = (await connection.execute(query)).mappings().one_or_none()
    return None if row is None else record_of(dict(row), row["record_content"])


@run_to_end
async def list_summaries(
    database: Database, records: RecordFilter, *, before: int | None, size: int
) -> tuple[list[RecordSummary], int | None]:
    """Return up to ``size`` summaries, newest first, and the number of the last one.

    Only records with a number below ``before`` are returned. The second value is None on the last
    page.
    """
    query = _where(sa.select(*COLUMNS).select_from(_JOINED), records)
    if before is not None:
        query = query.where(RECORDS.c.number < before)
    query = query.order_by(RECORDS.c.number.desc()).limit(size + 1)
    async with database.reading() as connection:
        rows = [dict(each) for each in (await connection.execute(query)).mappings()]
    last = rows[size - 1]["number"] if len(rows) > size else None
    return [summary_of(each) for each in rows[:size]], last


@run_to_end
async def delete_matching(database: Database, records: RecordFilter) -> int:
    """Delete the records that match, in short transactions; return their number."""
    chosen = _where(sa.select(RECORDS.c.number).select_from(_JOINED), records)
    deleted = 0
    while count := await _delete(database, chosen.limit(_BATCH)):
        deleted += count
    return deleted


@run_to_end
async def delete_ids(database: Database, ids: Sequence[str], tenant: str) -> int:
    """Delete the records with these ids, of one tenant if it is set; return their number."""
    chosen = sa.select(RECORDS.c.number).where(RECORDS.c.id.in_(ids))
    if tenant:
        chosen = chosen.where(RECORDS.c.tenant == tenant)
    return await _delete(database, chosen)


@run_to_end
async def delete_oldest(database: Database, *, max_bytes: int) -> int:
    """Delete the oldest records until ``max_bytes`` are left; return their number."""
    total = sa.func.sum(RECORDS.c.size).over(order_by=RECORDS.c.number.desc())
    sizes = sa.select(RECORDS.c.number, total.label("total")).subquery()
    chosen = sa.select(sizes.c.number).where(sizes.c.total > max_bytes)
    deleted = 0
    while count := await _delete(database, chosen.limit(_BATCH)):
        deleted += count
    return deleted


@run_to_end
async def count_bytes(database: Database) -> int:
    """Return the size of all records, in bytes."""
    async with database.reading() as connection:
        return int(await connection.scalar(sa.select(sa.func.sum(RECORDS.c.size))) or 0)


@run_to_end
async def check_readable(database: Database) -> None:
    """Read at most one record.

    Raises:
        BackendUnavailable: the database cannot be read.
    """
    async with database.reading() as connection:
        await connection.execute(sa.select(RECORDS.c.number).limit(1))


@run_to_end
async def put_feedback(
    database: Database, record_id: str, tenant: str, verdict: Verdict, comment: str, *, now_ms: int
) -> RecordSummary | None:
    """Store the verdict on a record, by its id or the newest of a request id; return its summary.

    The comment is not stored for a record without texts. None if there is no such record.
    """
    columns = RECORDS.c
    chosen = (
        sa.select(columns.number, columns.content)
        .where(sa.or_(columns.id == record_id, columns.request_id == record_id))
        .order_by((columns.id == record_id).desc(), columns.number.desc())
        .limit(1)
    )
    if tenant:
        chosen = chosen.where(columns.tenant == tenant)
    async with database.writing() as connection:
        found = (await connection.execute(chosen)).one_or_none()
        if found is None:
            return None
        values = {
            "verdict": verdict.value,
            "comment": comment if found.content == "full" else "",
            "created_ms": now_ms,
        }
        stored = database.insert(FEEDBACK).values(record=found.number, **values)
        replaced = stored.on_conflict_do_update(index_elements=["record"], set_=values)
        await connection.execute(replaced)
        query = sa.select(*COLUMNS).select_from(_JOINED).where(columns.number == found.number)
        row = (await connection.execute(query)).mappings().one()
    return summary_of(dict(row))


@run_to_end
async def summarize(
    database: Database, records: RecordFilter, *, period_s: int, limit: int
) -> list[RecordGroup]:
    """Return counts and means by period, tenant, policy and artefact, at most ``limit``."""
    columns = RECORDS.c
    start = (columns.created_ms // (period_s * 1000)).label("start")
    groups = (start, columns.tenant, columns.policy, columns.artefact_digest)
    query = _where(
        sa.select(
            *groups,
            sa.func.count().label("answers"),
            _count(columns.failure != "").label("failed"),
            _count(columns.abstained).label("abstained"),
            _count(columns.retrievals > 0).label("retrieved"),
            *(sa.func.sum(columns[name]).label(name) for name in _SUMS),
            sa.func.avg(columns.mean_probability).label("mean_probability"),
            sa.func.avg(columns.latency_ms).label("mean_latency_ms"),
            *(_count(FEEDBACK.c.verdict == each.value).label(each.value) for each in Verdict),
            *(sum_.label(name) for name, sum_ in _MOMENTS.items()),
        ).select_from(_JOINED),
        records,
    )
    query = query.group_by(*groups).order_by(*groups).limit(limit)
    async with database.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return [_group_of(dict(row), period_s) for row in rows]


def _group_of(row: dict[str, Any], period_s: int) -> RecordGroup:
    row["start"] = time_of(int(row["start"]) * period_s * 1000)
    mean, latency = row.pop("mean_probability"), float(row.pop("mean_latency_ms"))
    # A database can return a sum as a Decimal.
    sums = {name: float(row.pop(name) or 0) for name in _MOMENTS}
    integers = {name: int(value) for name, value in sums.items() if name not in _OF_FLOATS}
    moments = RecordMoments(**{**sums, **integers})  # type: ignore[arg-type]
    counts: dict[str, Any] = {
        name: value if isinstance(value, str) else int(value or 0) for name, value in row.items()
    }
    known = None if mean is None else float(mean)
    return RecordGroup(**counts, mean_probability=known, mean_latency_ms=latency, moments=moments)


def _count(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.sum(sa.case((condition, 1), else_=0))


def _products(first: str, second: str) -> sa.ColumnElement[int]:
    return sa.func.sum(RECORDS.c[first] * RECORDS.c[second])


_MOMENTS: dict[str, sa.ColumnElement[Any]] = {
    "retrievals_squared": _products("retrievals", "retrievals"),
    "judged_squared": _products("judged_drafts", "judged_drafts"),
    "uncertain_squared": _products("uncertain_drafts", "uncertain_drafts"),
    "judged_uncertain": _products("judged_drafts", "uncertain_drafts"),
    "sentences_squared": _products("sentences", "sentences"),
    "degraded_squared": _products("degraded_sentences", "degraded_sentences"),
    "sentences_degraded": _products("sentences", "degraded_sentences"),
    "with_probability": sa.func.count(RECORDS.c.mean_probability),
    "probability_squared": _products("mean_probability", "mean_probability"),
    "latency_squared": _products("latency_ms", "latency_ms"),
}
_OF_FLOATS = ("probability_squared", "latency_squared")


def _where(query: sa.Select[Any], records: RecordFilter) -> sa.Select[Any]:
    return query.where(*conditions_of(records))


async def _delete(database: Database, chosen: sa.Select[Any]) -> int:
    async with database.writing() as connection:
        deletion = sa.delete(RECORDS).where(RECORDS.c.number.in_(chosen.scalar_subquery()))
        return (await connection.execute(deletion)).rowcount
