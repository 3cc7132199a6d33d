"""The recorder keeps what an answer decided, and never stands in its way."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from scaar.core.calls.context import CallContext, in_call
from scaar.core.errors import ScaarError
from scaar.core.observers import RecordDrop, RecordObserver
from scaar.core.records import RecordContent
from scaar.core.tenancy import tenant_proved
from scaar.core.types import AnswerEvent, AnswerFinished, PassagesRetrieved, TokenDrafted
from scaar.database.database import Database, open_database
from scaar.evaluator.execution.provenance import provenances, select_servable
from scaar.evaluator.planning.settings import plan_settings
from scaar.records.recorder import RecordLimits, open_recorder
from scaar.records.service import StoredRecords
from scaar.records.store.schema import SCHEMA
from scaar.records.store.tables import RECORDS
from scaar.telemetry.answers import WatchedAnswerer
from scaar.testing.answer_records import FULL, record_answers
from tests.unit.core.scripted import QUESTION, UNSURE_OF_PARIS, asking, only, parts


class Counts(RecordObserver):
    def __init__(self) -> None:
        self.written = 0
        self.has_written = asyncio.Event()
        self.dropped: dict[RecordDrop, int] = {}

    def on_records_written(self, count: int) -> None:
        self.written += count
        self.has_written.set()

    def on_records_dropped(self, reason: RecordDrop, count: int) -> None:
        self.dropped[reason] = self.dropped.get(reason, 0) + count


async def test_a_record_has_the_events_of_its_answer(
    database: Database, records: StoredRecords
) -> None:
    made = parts(UNSURE_OF_PARIS)
    expected = await made.events(asking("flare"))
    await record_answers(database, parts(UNSURE_OF_PARIS).loop(), asking("flare"))
    (summary,) = (await records.list_records()).records
    record = await records.get_record(summary.id)
    assert without_usage(record.events) == without_usage(tuple(expected))
    assert record.request == asking("flare")
    assert len(record.event_ms) == len(record.events)
    assert list(record.event_ms) == sorted(record.event_ms)
    assert (summary.question, summary.answer) == (QUESTION, "London")
    assert (summary.policy, summary.request_id, summary.index) == ("flare", "made", "lab")
    assert (summary.judged_drafts, summary.uncertain_drafts, summary.retrievals) == (1, 1, 1)
    assert summary.sentences == 2
    assert summary.failure == ""
    assert summary.content is RecordContent.FULL
    assert 0.0 < (summary.mean_probability or 0.0) < 1.0


def without_usage(events: tuple[AnswerEvent, ...]) -> tuple[AnswerEvent, ...]:
    last = events[-1]
    assert isinstance(last, AnswerFinished)
    usage = replace(last.answer.usage, latency_ms=0.0)
    return (*events[:-1], AnswerFinished(replace(last.answer, usage=usage)))


async def test_a_failed_answer_has_a_record_with_its_error(
    database: Database, records: StoredRecords
) -> None:
    await record_answers(database, parts(UNSURE_OF_PARIS).loop(), asking("flare", theta=2.0))
    (summary,) = (await records.list_records()).records
    assert (summary.failure, summary.model, summary.sentences) == ("INVALID_REQUEST", "", 0)
    assert "theta" in (await records.get_record(summary.id)).error


async def test_a_policy_that_does_not_exist_is_none_of_its_record(
    database: Database, records: StoredRecords
) -> None:
    await record_answers(database, parts(UNSURE_OF_PARIS).loop(), asking("flair"))
    (summary,) = (await records.list_records()).records
    assert (summary.failure, summary.policy) == ("INVALID_REQUEST", "")


async def test_a_cancelled_answer_has_a_record(database: Database, records: StoredRecords) -> None:
    async with open_recorder(database, FULL, Counts()) as recorder:
        watched = WatchedAnswerer(parts(UNSURE_OF_PARIS).loop(), [recorder.watch])
        events = watched.stream_answer(asking("flare"))
        # The start, and three tokens.
        for _ in range(4):
            await anext(events)
        await events.aclose()
    (summary,) = (await records.list_records()).records
    assert summary.failure == "CANCELLED"
    assert summary.generated_tokens == 3


async def test_the_provenance_of_an_evaluation_has_no_record(
    database: Database, records: StoredRecords
) -> None:
    settings = plan_settings(("flare", "dragin"), {})
    async with open_recorder(database, FULL, Counts()) as recorder:
        watched = WatchedAnswerer(parts(UNSURE_OF_PARIS).loop(), [recorder.watch])
        # The model cannot serve dragin.
        served, left_out = await select_servable(watched, settings, asking("flare"))
        made = await provenances(watched, served, asking("flare"))
    assert [each.setting.label for each in left_out] == ["dragin"]
    assert made["flare"].model
    assert (await records.list_records()).records == ()


async def test_the_tenant_is_proved_or_named_or_the_default(
    database: Database, records: StoredRecords
) -> None:
    loop = parts(UNSURE_OF_PARIS).loop()
    await record_answers(database, loop, asking("flare"))
    with in_call(CallContext(tenant="sales")):
        await record_answers(database, loop, asking("flare"))
        with tenant_proved("research"):
            await record_answers(database, loop, asking("flare"))
    with in_call(CallContext(tenant="no\ntenant")):
        await record_answers(database, loop, asking("flare"))
    found = [each.tenant for each in (await records.list_records()).records]
    assert found == ["default", "research", "sales", "default"]


async def test_a_database_that_fails_costs_records_and_no_answer(tmp_path: Path) -> None:
    counts = Counts()
    loop = parts(UNSURE_OF_PARIS).loop()
    # The tables do not exist.
    async with open_database(f"sqlite:///{tmp_path}/empty.sqlite", SCHEMA) as database:
        async with open_recorder(database, FULL, counts) as recorder:
            watched = WatchedAnswerer(loop, [recorder.watch])
            events = [event async for event in watched.stream_answer(asking("flare"))]
        assert isinstance(events[-1], AnswerFinished)
    assert counts.written == 0
    assert counts.dropped == {RecordDrop.CLOSED: 1}


async def test_records_wait_for_a_database_that_comes_back(
    database: Database, records: StoredRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scaar.records.recorder._RETRY_S", 0.01)
    counts = Counts()
    async with database.writing() as connection:
        await connection.execute(sa.text("ALTER TABLE answer_records RENAME TO away"))
    async with open_recorder(database, FULL, counts) as recorder:
        watched = WatchedAnswerer(parts(UNSURE_OF_PARIS).loop(), [recorder.watch])
        assert only(PassagesRetrieved, [e async for e in watched.stream_answer(asking("flare"))])
        await asyncio.sleep(0.7)
        assert counts.written == 0
        async with database.writing() as connection:
            await connection.execute(sa.text("ALTER TABLE away RENAME TO answer_records"))
        await counts.has_written.wait()
    assert counts.dropped == {}
    assert len((await records.list_records()).records) == 1


async def test_what_exceeds_the_waiting_records_is_dropped_and_counted(
    tmp_path: Path,
) -> None:
    counts = Counts()
    limits = RecordLimits(RecordContent.FULL, max_waiting_bytes=3_000)
    async with (
        open_database(f"sqlite:///{tmp_path}/empty.sqlite", SCHEMA) as database,
        open_recorder(database, limits, counts) as recorder,
    ):
        watched = WatchedAnswerer(parts(UNSURE_OF_PARIS).loop(), [recorder.watch])
        for _ in range(20):
            async for _ in watched.stream_answer(asking("flare")):
                pass
    assert counts.dropped[RecordDrop.QUEUE_FULL] >= 10
    assert sum(counts.dropped.values()) == 20


async def test_a_large_record_loses_its_tokens_and_then_its_passages(
    database: Database, records: StoredRecords
) -> None:
    loop = parts(UNSURE_OF_PARIS).loop()
    await record_answers(database, loop, asking("flare"))
    async with database.reading() as connection:
        size = int(await connection.scalar(sa.select(RECORDS.c.size)) or 0)
    # Times differ by a few bytes.
    for limit in (size - 50, 1):
        limits = RecordLimits(RecordContent.FULL, max_record_bytes=limit)
        await record_answers(database, loop, asking("flare"), limits=limits)
    least, less, whole = [
        await records.get_record(each.id) for each in (await records.list_records()).records
    ]
    assert whole.left_out == ()
    assert less.left_out == ("tokens",)
    assert not only(TokenDrafted, less.events)
    assert len(less.events) == len(less.event_ms)
    assert least.left_out == ("tokens", "passages")
    (found,) = only(PassagesRetrieved, least.events)
    assert [passage.text for passage in found.passages] == ["", ""]
    assert [passage.id for passage in found.passages] == ["p1", "p2"]


async def test_an_answer_that_cannot_be_recorded_is_counted(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ScaarError("no row")

    monkeypatch.setattr("scaar.records.recorder.row_of", fail)
    counts = Counts()
    async with open_recorder(database, FULL, counts) as recorder:
        watched = WatchedAnswerer(parts(UNSURE_OF_PARIS).loop(), [recorder.watch])
        async for _ in watched.stream_answer(asking("flare")):
            pass
    assert counts.dropped == {RecordDrop.FAULT: 1}
