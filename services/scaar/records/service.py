"""The service of records: their readers, their queries, and the deletion of old ones."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from scaar.core.errors import InvalidRequest, NotFound, PermissionDenied, ScaarError
from scaar.core.pages import next_page_token, page_size_of, place_of
from scaar.core.records import (
    DAY_S,
    EVERY_RECORD,
    MAX_COMMENT_CHARACTERS,
    MAX_GROUPS,
    MAX_IDS,
    MAX_PERIOD_S,
    MIN_PERIOD_S,
    AnswerRecord,
    ExplainRecordRequest,
    RecordExplanation,
    RecordFilter,
    RecordGroup,
    RecordPage,
    RecordSummary,
    Verdict,
)
from scaar.core.tenancy import proved_tenant
from scaar.core.text import word_classes
from scaar.core.validation import check_text
from scaar.database.database import Database
from scaar.database.migration import open_checked_database
from scaar.records.explanation import explain
from scaar.records.settings import RecordsSettings
from scaar.records.store.filters import check_filter
from scaar.records.store.rows import time_of
from scaar.records.store.schema import SCHEMA
from scaar.records.store.store import (
    check_readable,
    count_bytes,
    delete_ids,
    delete_matching,
    delete_oldest,
    find_record,
    list_summaries,
    put_feedback,
    summarize,
)

_LOGGER = logging.getLogger("scaar.records")


class StoredRecords:
    """The :class:`~scaar.core.ports.Records` in a database, for the caller of the current call."""

    def __init__(self, database: Database, operators: Sequence[str] = ()) -> None:
        self._database = database
        self._operators = frozenset(operators)

    async def check_ready(self) -> None:
        """Check that the database can be read."""
        await check_readable(self._database)

    async def get_record(self, record_id: str) -> AnswerRecord:
        _require("id", record_id)
        found = await find_record(self._database, record_id)
        if found is None or self._own_tenant() not in ("", found.summary.tenant):
            raise _not_found(record_id)
        return found

    async def list_records(
        self,
        records: RecordFilter = EVERY_RECORD,
        *,
        page_size: int | None = None,
        page_token: str = "",
    ) -> RecordPage:
        records = self._visible(records)
        size, query = page_size_of(page_size), (repr(records),)
        place = place_of(page_token, query, length=1)
        before = None if place is None else place[0]
        found, last = await list_summaries(self._database, records, before=before, size=size)
        token = "" if last is None else next_page_token(query, (last,))
        return RecordPage(tuple(found), token)

    async def delete_records(
        self, records: RecordFilter = EVERY_RECORD, *, ids: Sequence[str] = ()
    ) -> int:
        if bool(ids) is not records.is_empty:
            text = "must be set, or ids" if not ids else "cannot be combined with ids"
            raise InvalidRequest.of("filter", text)
        if len(ids) > MAX_IDS:
            raise InvalidRequest.of("ids", f"must be at most {MAX_IDS:,}, not {len(ids):,}")
        if ids:
            return await delete_ids(self._database, ids, self._own_tenant())
        return await delete_matching(self._database, self._visible(records))

    async def explain_record(self, request: ExplainRecordRequest) -> RecordExplanation:
        record = await self.get_record(request.id)
        # The first explanation loads the lexicon of word classes.
        await asyncio.to_thread(word_classes.load)
        return await asyncio.to_thread(explain, record, request)

    async def summarize_records(
        self, records: RecordFilter = EVERY_RECORD, *, period_s: int | None = None
    ) -> tuple[RecordGroup, ...]:
        period = DAY_S if period_s is None else period_s
        if not MIN_PERIOD_S <= period <= MAX_PERIOD_S:
            text = f"must be {MIN_PERIOD_S:,} to {MAX_PERIOD_S:,}, not {period:,}"
            raise InvalidRequest.of("period_s", text)
        found = await summarize(
            self._database, self._visible(records), period_s=period, limit=MAX_GROUPS + 1
        )
        if len(found) > MAX_GROUPS:
            text = f"gives more than {MAX_GROUPS:,} groups: choose a longer one, or a shorter time"
            raise InvalidRequest.of("period_s", text)
        return tuple(found)

    async def submit_feedback(
        self, record_id: str, verdict: Verdict, comment: str = ""
    ) -> RecordSummary:
        _require("id", record_id)
        if len(comment) > MAX_COMMENT_CHARACTERS:
            text = f"must have at most {MAX_COMMENT_CHARACTERS:,} characters, not {len(comment):,}"
            raise InvalidRequest.of("comment", text)
        if comment and (wrong := check_text("comment", comment)):
            raise InvalidRequest(wrong)
        now_ms = round(time.time() * 1000)
        stored = await put_feedback(
            self._database, record_id, self._own_tenant(), verdict, comment, now_ms=now_ms
        )
        if stored is None:
            raise _not_found(record_id)
        return stored

    def _own_tenant(self) -> str:
        """Return the tenant that limits the caller; empty for operators and without identities."""
        tenant = proved_tenant()
        return "" if tenant is None or tenant in self._operators else tenant

    def _visible(self, records: RecordFilter) -> RecordFilter:
        """Return a valid filter limited to what the caller may see."""
        check_filter(records)
        own = self._own_tenant()
        if own and records.tenant not in ("", own):
            text = f"filter.tenant is {records.tenant!r}, but the caller's tenant is {own!r}"
            raise PermissionDenied(text)
        return replace(records, tenant=own or records.tenant)


@asynccontextmanager
async def open_records(settings: RecordsSettings, url: str) -> AsyncIterator[StoredRecords]:
    """Open the records of a database, and delete old ones until the block ends."""
    async with open_checked_database(url, SCHEMA) as database:
        cleaning = asyncio.create_task(_clean_up_forever(database, settings))
        try:
            yield StoredRecords(database, settings.operator_tenants)
        finally:
            cleaning.cancel()
            await asyncio.gather(cleaning, return_exceptions=True)


async def clean_up(database: Database, settings: RecordsSettings) -> int:
    """Delete the records that are too old or too many; return their number."""
    oldest = datetime.now(UTC).timestamp() - settings.retention_days * 86_400
    deleted = await delete_matching(database, RecordFilter(until=time_of(round(oldest * 1000))))
    max_bytes = settings.max_mib << 20
    if await count_bytes(database) > max_bytes:
        deleted += await delete_oldest(database, max_bytes=max_bytes)
    return deleted


async def _clean_up_forever(database: Database, settings: RecordsSettings) -> None:
    while True:
        try:
            if deleted := await clean_up(database, settings):
                _LOGGER.info("deleted %d old records", deleted)
        except ScaarError as error:
            _LOGGER.warning("old records were not deleted: %s (%s)", error, error.detail)
        await asyncio.sleep(settings.cleaning_s)


def _require(field: str, value: str) -> None:
    if not value:
        raise InvalidRequest.of(field, "is required")


def _not_found(record_id: str) -> NotFound:
    return NotFound(f"there is no record {record_id!r}")
