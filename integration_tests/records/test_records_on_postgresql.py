"""Records on a real PostgreSQL: the same as on SQLite, two writers, and a server that is killed."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scaar.compose import open_orchestrator
from scaar.core.errors import NotFound
from scaar.core.observers import RecordDrop, RecordObserver
from scaar.core.ports import Answerer
from scaar.core.records import ExplainRecordRequest, RecordFilter, Verdict
from scaar.core.types import AnswerFinished, AnswerRequest, PolicyOverrides, PolicyRequest
from scaar.database.database import Database, open_database
from scaar.database.migration import check, upgrade
from scaar.evaluator.store.database.schema import SCHEMA as EVALUATIONS
from scaar.records.recorder import open_recorder
from scaar.records.service import StoredRecords, clean_up
from scaar.records.settings import RecordsSettings
from scaar.records.store.schema import SCHEMA
from scaar.telemetry.answers import WatchedAnswerer
from scaar.testing.answer_records import FULL, record_answers

from ..servers.postgresql.postgresql_server import PostgresqlServer, running_postgresql

_NUMBERS = itertools.count()


class Counts(RecordObserver):
    def __init__(self) -> None:
        self.written = 0
        self.dropped: dict[RecordDrop, int] = {}

    def on_records_written(self, count: int) -> None:
        self.written += count

    def on_records_dropped(self, reason: RecordDrop, count: int) -> None:
        self.dropped[reason] = self.dropped.get(reason, 0) + count


@pytest.fixture(scope="module")
def postgresql() -> Iterator[PostgresqlServer]:
    with running_postgresql() as server:
        yield server


@pytest.fixture
async def loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Answerer]:
    """An orchestrator with the lab's model and index."""
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path))
    async with open_orchestrator() as (loop, _):
        yield loop


def asking(policy: str) -> AnswerRequest:
    return AnswerRequest("When was the film The Velvet Statue released?", PolicyRequest(policy))


@pytest.fixture
def url(postgresql: PostgresqlServer) -> str:
    """The URL of an empty database of the test's own."""
    name = f"records_{next(_NUMBERS)}"
    postgresql.execute(f"CREATE DATABASE {name}")
    return postgresql.url(name)


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    async with open_database(url, SCHEMA) as opened:
        await upgrade(opened)
        yield opened


async def test_records_share_a_database_with_evaluations(url: str) -> None:
    async with open_database(url, SCHEMA) as records, open_database(url, EVALUATIONS) as others:
        with pytest.raises(NotFound, match="scaar db upgrade --tables records"):
            await check(records)
        await upgrade(records)
        await upgrade(others)
        await check(records)
        await check(others)


async def test_records_are_stored_listed_explained_and_deleted(
    database: Database, loop: Answerer
) -> None:
    records = StoredRecords(database)
    await record_answers(database, loop, asking("flare"), asking("scaar"))
    later, earlier = (await records.list_records()).records
    assert (later.policy, earlier.policy) == ("scaar", "flare")
    found = await records.get_record(earlier.id)
    assert isinstance(found.events[-1], AnswerFinished)
    other = PolicyOverrides(theta=0.01)
    judged = await records.explain_record(ExplainRecordRequest(earlier.id, overrides=other))
    assert (judged.recorded_retrievals, judged.retrievals) == (1, 0)
    stored = await records.submit_feedback(earlier.request_id, Verdict.WRONG, "No.")
    assert stored.id == earlier.id
    for chosen, count in (
        (RecordFilter(text="VELVET statue"), 2),
        (RecordFilter(retrieved=True, failed=False), 2),
        (RecordFilter(verdict=Verdict.WRONG), 1),
        (RecordFilter(has_feedback=False), 1),
        (RecordFilter(since="2100-01-01T00:00:00Z"), 0),
    ):
        assert len((await records.list_records(chosen)).records) == count
    groups = await records.summarize_records(period_s=3600)
    assert sorted((each.policy, each.answers, each.wrong) for each in groups) == [
        ("flare", 1, 1),
        ("scaar", 1, 0),
    ]
    assert await clean_up(database, RecordsSettings(retention_days=1)) == 0
    assert await records.delete_records(RecordFilter(tenant="default")) == 2
    assert (await records.list_records()).records == ()


async def test_two_orchestrators_write_to_one_database(
    database: Database, loop: Answerer, url: str
) -> None:
    counts = Counts()
    async with (
        open_database(url, SCHEMA) as other,
        open_recorder(database, FULL, counts) as one,
        open_recorder(other, FULL, counts) as two,
    ):
        answerers = [WatchedAnswerer(loop, [each.watch]) for each in (one, two)]

        async def answer(number: int) -> None:
            request = replace(asking("flare"), request_id=f"r{number}")
            async for _ in answerers[number % 2].stream_answer(request):
                pass

        await asyncio.gather(*(answer(number) for number in range(30)))
    assert counts.dropped == {}
    records = (await StoredRecords(database).list_records()).records
    assert {each.request_id for each in records} == {f"r{number}" for number in range(30)}


async def test_a_killed_server_fails_no_answer_and_the_records_wait_for_it(
    database: Database, loop: Answerer, postgresql: PostgresqlServer
) -> None:
    counts, answered = Counts(), 0
    async with open_recorder(database, FULL, counts) as recorder:
        watched = WatchedAnswerer(loop, [recorder.watch])

        async def answer() -> None:
            nonlocal answered
            events = [event async for event in watched.stream_answer(asking("flare"))]
            assert isinstance(events[-1], AnswerFinished)
            answered += 1

        for _ in range(10):
            await answer()
        while counts.written < 10:  # noqa: ASYNC110 (the observer counts for two tests)
            await asyncio.sleep(0.05)
        postgresql.kill()
        for _ in range(40):
            await answer()
            await asyncio.sleep(0.02)
        assert counts.written == 10
        postgresql.start()
        for _ in range(10):
            await answer()
        async with asyncio.timeout(60):
            while counts.written < 60:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    assert answered == 60
    assert counts.dropped == {}
    assert len((await StoredRecords(database).list_records()).records) == 60
