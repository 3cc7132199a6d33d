"""Recorded answers for tests, from fake engines."""

from contextlib import aclosing

from scaar.core.errors import ScaarError
from scaar.core.observers import UNOBSERVED_RECORDS
from scaar.core.ports import Answerer
from scaar.core.records import AnswerRecord, RecordContent
from scaar.core.types import AnswerRequest
from scaar.database.database import Database
from scaar.records.recorder import RecordLimits, open_recorder
from scaar.records.redaction import redacted, redacted_summary
from scaar.records.store.rows import Row, row_of
from scaar.telemetry.answers import WatchedAnswerer
from scaar.wire.records import record_from_bytes, record_message

FULL = RecordLimits(RecordContent.FULL)


async def record_answers(
    database: Database,
    answerer: Answerer,
    *requests: AnswerRequest,
    limits: RecordLimits = FULL,
) -> None:
    """Answer the requests, and store their records."""
    async with open_recorder(database, limits, UNOBSERVED_RECORDS) as recorder:
        watched = WatchedAnswerer(answerer, [recorder.watch])
        for request in requests:
            try:
                async with aclosing(watched.stream_answer(request)) as events:
                    async for _ in events:
                        pass
            except ScaarError:
                continue


def row_of_record(record: AnswerRecord) -> Row:
    """Return the row of a whole record."""
    return row_of(record.summary, _bytes_of(record, RecordContent.FULL))


def redacted_record(record: AnswerRecord, content: RecordContent, key: bytes = b"") -> AnswerRecord:
    """Return the record as it is read if it was kept with ``content``."""
    summary = redacted_summary(record.summary, content, key)
    return record_from_bytes(_bytes_of(record, content, key), summary)


def _bytes_of(record: AnswerRecord, content: RecordContent, key: bytes = b"") -> bytes:
    message = record_message(record.request, record.events, record.event_ms, record.error)
    return redacted(message, content, key)
