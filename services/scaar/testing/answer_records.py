"""Recorded answers for tests, from fake engines."""

from contextlib import aclosing

from scaar.core.errors import ScaarError
from scaar.core.observers import UNOBSERVED_RECORDS
from scaar.core.ports import Answerer
from scaar.core.records import RecordContent
from scaar.core.types import AnswerRequest
from scaar.database.database import Database
from scaar.records.recorder import RecordLimits, open_recorder
from scaar.telemetry.answers import WatchedAnswerer

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
