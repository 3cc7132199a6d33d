"""The recorder of an orchestrator: answers as they end, written in the background."""

import asyncio
import logging
import math
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from scaar.core.calls.context import current_call
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.observers import RecordDrop, RecordObserver
from scaar.core.records import RecordContent, RecordSummary
from scaar.core.tenancy import DEFAULT_TENANT, proved_tenant, wrong_tenant
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    PassagesRetrieved,
    PromptRead,
    SentenceAccepted,
    SentenceJudged,
    TokenDrafted,
)
from scaar.database.database import Database
from scaar.records.redaction import redacted, redacted_summary
from scaar.records.store.rows import Row, row_of
from scaar.records.store.store import add_records
from scaar.wire.records import record_message, without_passages, without_tokens

_LOGGER = logging.getLogger("scaar.records")
_CANCELLED = "CANCELLED"
_BATCH = 100
"""Maximum number of records in one transaction."""
_SOON_S, _INTERVAL_S = 0.1, 2.0
"""A record is written soon if none was written lately; under load, one transaction writes those of
an interval."""
_MANY_EVENTS = 1_000
"""An answer with more events becomes a row in a thread, so that it delays no other answer."""
_STEP_S = 0.002
"""Rows are made for this time between other work of the event loop."""
_RETRY_S = 1.0
"""Pause after the database did not take a batch."""
_CLOSING_S = 5.0
_MAX_WAITING = 256
"""Maximum number of answers that wait to become rows."""
_MAX_EVENTS = 20_000
"""Maximum number of events of a record; later ones but the last are left out."""


@dataclass(frozen=True, slots=True)
class RecordLimits:
    """What is kept of an answer, and how much may wait to be written."""

    content: RecordContent
    key: bytes = b""
    """Key of the digests of ``HASHED``."""
    max_record_bytes: int = 1 << 20
    max_waiting_bytes: int = 32 << 20


@dataclass(slots=True)
class _Answer:
    """An answer as it is observed."""

    request: AnswerRequest
    tenant: str
    trace_id: str
    started_at: datetime
    begun: float
    events: list[AnswerEvent] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """The time of each event, on the clock of ``begun``."""
    error: BaseException | None = None
    elapsed_ms: float = 0.0


class Recorder:
    """Keeps the answers that it watches, and writes them in the background.

    Nothing here slows or fails an answer: what the store does not take in time is dropped, counted
    and logged.
    """

    def __init__(self, database: Database, limits: RecordLimits, observer: RecordObserver) -> None:
        self._database = database
        self._limits = limits
        self._observer = observer
        self._ended: deque[_Answer] = deque()
        self._rows: deque[Row] = deque()
        self._waiting_bytes = 0
        self._has_ended = asyncio.Event()
        self._closing = False

    def watch(self, request: AnswerRequest) -> "RecordWatch":
        """Return the watch of a new answer, in the context of its call."""
        call = current_call()
        tenant = proved_tenant()
        if tenant is None:
            named = call.tenant if call is not None else ""
            tenant = DEFAULT_TENANT if wrong_tenant(named) else named
        answer = _Answer(
            request,
            tenant,
            call.trace_id if call is not None else "",
            datetime.now(UTC),
            time.monotonic(),
        )
        return RecordWatch(answer, self)

    def ended(self, answer: _Answer) -> None:
        """Take an answer that has ended."""
        if self._closing or len(self._ended) >= _MAX_WAITING:
            self._observer.on_records_dropped(RecordDrop.QUEUE_FULL, 1)
            return
        self._ended.append(answer)
        self._has_ended.set()

    async def run(self) -> None:
        """Write until cancelled. Records that cannot be written wait, up to a limit."""
        written_at = -math.inf
        while True:
            await self._has_ended.wait()
            self._has_ended.clear()
            due = max(_SOON_S, written_at + _INTERVAL_S - time.monotonic())
            await asyncio.sleep(due)
            await self._encode()
            while self._rows:
                if await self._write():
                    written_at = time.monotonic()
                    continue
                await asyncio.sleep(_RETRY_S)
                await self._encode()

    async def flush(self) -> None:
        """Write what waits, as long as the database takes it."""
        self._closing = True
        await self._encode()
        while self._rows:
            if not await self._write():
                break
        if self._rows:
            self._observer.on_records_dropped(RecordDrop.CLOSED, len(self._rows))

    async def _encode(self) -> None:
        """Turn the answers that have ended into rows, as far as the limit of bytes permits."""
        began = time.monotonic()
        while self._ended:
            # A cancellation meanwhile leaves the answer for the end.
            answer = self._ended[0]
            if len(answer.events) > _MANY_EVENTS:
                row = await asyncio.to_thread(self._row_of, answer)
            else:
                row = self._row_of(answer)
            self._ended.popleft()
            if row is None:
                self._observer.on_records_dropped(RecordDrop.FAULT, 1)
            elif self._waiting_bytes + row.size > self._limits.max_waiting_bytes:
                self._observer.on_records_dropped(RecordDrop.QUEUE_FULL, 1)
            else:
                self._rows.append(row)
                self._waiting_bytes += row.size
            # Several at a time take less CPU than one now and then between steps of answers.
            if time.monotonic() - began > _STEP_S:
                await asyncio.sleep(0)
                began = time.monotonic()
        self._observer.on_records_waiting(len(self._rows))

    async def _write(self) -> bool:
        """Write one batch; return whether the database took it."""
        batch = list(islice(self._rows, _BATCH))
        try:
            await add_records(self._database, batch)
        except ScaarError as error:
            _LOGGER.warning("%d records wait: %s (%s)", len(self._rows), error, error.detail)
            return False
        for _ in batch:
            self._waiting_bytes -= self._rows.popleft().size
        self._observer.on_records_written(len(batch))
        self._observer.on_records_waiting(len(self._rows) + len(self._ended))
        return True

    def _row_of(self, answer: _Answer) -> Row | None:
        try:
            return _row_of(answer, self._limits)
        except Exception:
            _LOGGER.exception("an answer could not be recorded")
            return None


class RecordWatch:
    """An :class:`~scaar.telemetry.answers.AnswerWatch` that keeps the events of an answer."""

    def __init__(self, answer: _Answer, recorder: Recorder) -> None:
        self._answer = answer
        self._events, self._times = answer.events, answer.times
        self._recorder = recorder

    def on_event(self, event: AnswerEvent) -> None:
        if isinstance(event, PromptRead):
            return
        events = self._events
        if len(events) < _MAX_EVENTS or isinstance(event, AnswerFinished):
            events.append(event)
            self._times.append(time.monotonic())

    def on_end(self, error: BaseException | None) -> None:
        answer = self._answer
        answer.error = error
        answer.elapsed_ms = (time.monotonic() - answer.begun) * 1000
        self._recorder.ended(answer)


@asynccontextmanager
async def open_recorder(
    database: Database, limits: RecordLimits, observer: RecordObserver
) -> AsyncIterator[Recorder]:
    """Open a recorder, which writes what waits for a few seconds when the block ends."""
    recorder = Recorder(database, limits, observer)
    writing = asyncio.create_task(recorder.run())
    try:
        yield recorder
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        try:
            async with asyncio.timeout(_CLOSING_S):
                await recorder.flush()
        except TimeoutError:
            _LOGGER.warning("records are lost: the database did not take them in time")


def _row_of(answer: _Answer, limits: RecordLimits) -> Row:
    """Return the row of an answer, without what exceeds the size of a record."""
    content, key = limits.content, limits.key
    error = answer.error.message if isinstance(answer.error, ScaarError) else ""
    event_ms = [round((each - answer.begun) * 1000, 3) for each in answer.times]
    record = record_message(answer.request, answer.events, event_ms, error)
    summary = redacted_summary(_summary_of(answer), content, key)
    row = row_of(summary, redacted(record, content, key))
    for less in (without_tokens, without_passages):
        if row.size > limits.max_record_bytes:
            record = less(record)
            row = row_of(summary, redacted(record, content, key))
    return row


def _summary_of(answer: _Answer) -> RecordSummary:
    decisions = [event for event in answer.events if not isinstance(event, TokenDrafted)]
    finished = next((e.answer for e in decisions if isinstance(e, AnswerFinished)), None)
    started = next((e.provenance for e in decisions if isinstance(e, AnswerStarted)), None)
    judged = [event for event in decisions if isinstance(event, SentenceJudged)]
    accepted = [event for event in decisions if isinstance(event, SentenceAccepted)]
    retrievals = sum(isinstance(event, PassagesRetrieved) for event in decisions)
    known = [
        word.probability for event in judged for word in event.words if word.probability is not None
    ]
    usage = finished.usage if finished is not None else None
    provenance = finished.provenance if finished is not None else started
    return RecordSummary(
        id=uuid.uuid4().hex,
        request_id=provenance.request_id if provenance else answer.request.request_id,
        tenant=answer.tenant,
        created_at=answer.started_at.isoformat(),
        content=RecordContent.FULL,
        policy="" if _has_no_policy(answer.error) else answer.request.policy.label,
        artefact_digest=provenance.artefact_digest if provenance else "",
        model=provenance.model if provenance else "",
        index=answer.request.index or (provenance.index if provenance else ""),
        question=answer.request.last_question,
        answer=finished.shown if finished is not None else "",
        failure=_failure_of(answer) if finished is None else "",
        judged_drafts=len(judged),
        uncertain_drafts=sum(event.trigger is not None for event in judged),
        sentences=len(accepted),
        degraded_sentences=sum(event.accepted.degraded is not None for event in accepted),
        retrievals=usage.retrievals if usage else retrievals,
        # An answer without an end has at least written its drafts.
        generated_tokens=usage.generated_tokens if usage else len(answer.events) - len(decisions),
        prompt_tokens=usage.prompt_tokens if usage else 0,
        latency_ms=usage.latency_ms if usage else answer.elapsed_ms,
        mean_probability=math.fsum(known) / len(known) if known else None,
        abstained=finished is not None and finished.abstained is not None,
        trace_id=answer.trace_id,
        kind=answer.request.kind,
    )


def _has_no_policy(error: BaseException | None) -> bool:
    """Return whether the answer failed because there is no policy of the name."""
    return isinstance(error, InvalidRequest) and any(
        each.field == "policy.name" for each in error.violations
    )


def _failure_of(answer: _Answer) -> str:
    error = answer.error
    if error is None or isinstance(error, GeneratorExit | asyncio.CancelledError):
        return _CANCELLED
    return (error if isinstance(error, ScaarError) else ScaarError).reason
