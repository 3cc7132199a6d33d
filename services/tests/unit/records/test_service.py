"""Records are found, listed, summarized, judged and deleted, each by whom they belong to."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from scaar.core.errors import InvalidRequest, NotFound, PermissionDenied
from scaar.core.records import (
    AnswerRecord,
    Feedback,
    RecordContent,
    RecordFilter,
    RecordSummary,
    Verdict,
)
from scaar.core.tenancy import tenant_proved
from scaar.core.types import AnswerRequest, RequestKind
from scaar.database.database import Database
from scaar.records.service import StoredRecords, clean_up
from scaar.records.settings import RecordsSettings
from scaar.records.store.store import add_records
from scaar.testing.answer_records import row_of_record

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def summary(name: str, **changed: object) -> RecordSummary:
    whole = RecordSummary(
        id=name,
        request_id=f"request-{name}",
        tenant="sales",
        created_at=NOON.isoformat(),
        content=RecordContent.FULL,
        policy="scaar",
        model="lab-lm",
        index="lab",
        question="Where was Ada born?",
        answer="London",
        judged_drafts=2,
        uncertain_drafts=1,
        sentences=2,
        retrievals=1,
        generated_tokens=20,
        prompt_tokens=100,
        latency_ms=50.0,
        mean_probability=0.5,
    )
    return replace(whole, **changed)  # type: ignore[arg-type]


async def store(database: Database, summaries: Sequence[RecordSummary]) -> None:
    records = [AnswerRecord(each, AnswerRequest(each.question)) for each in summaries]
    await add_records(database, [row_of_record(each) for each in records])


def ids(found: Sequence[RecordSummary]) -> list[str]:
    return [each.id for each in found]


async def test_a_record_comes_back_as_it_was(database: Database, records: StoredRecords) -> None:
    await store(database, [summary("a", trace_id="1" * 32, artefact_digest="2" * 64)])
    found = await records.get_record("a")
    created = "2026-03-01T12:00:00.000Z"
    expected = summary("a", trace_id="1" * 32, artefact_digest="2" * 64, created_at=created)
    assert found == AnswerRecord(expected, AnswerRequest("Where was Ada born?"))


async def test_records_are_listed_by_pages_from_the_newest(
    database: Database, records: StoredRecords
) -> None:
    await store(database, [summary(str(number)) for number in range(5)])
    first = await records.list_records(page_size=2)
    second = await records.list_records(page_size=2, page_token=first.next_page_token)
    third = await records.list_records(page_size=2, page_token=second.next_page_token)
    assert [ids(each.records) for each in (first, second, third)] == [
        ["4", "3"],
        ["2", "1"],
        ["0"],
    ]
    assert third.next_page_token == ""
    with pytest.raises(InvalidRequest, match="another query"):
        await records.list_records(RecordFilter(policy="x"), page_token=first.next_page_token)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (RecordFilter(), ["other", "failed", "degraded", "plain"]),
        (RecordFilter(tenant="research"), ["other"]),
        (RecordFilter(policy="flare"), ["degraded"]),
        (RecordFilter(index="films"), ["other"]),
        (RecordFilter(request_id="request-failed"), ["failed"]),
        (RecordFilter(retrieved=False), ["failed"]),
        (RecordFilter(retrieved=True, degraded=False), ["other", "plain"]),
        (RecordFilter(degraded=True), ["degraded"]),
        (RecordFilter(failed=True), ["failed"]),
        (RecordFilter(since="2026-03-02T00:00:00Z"), ["other"]),
        (RecordFilter(until="2026-03-01T13:00:00+01:00"), []),
        (RecordFilter(since="2026-03-01T12:00:00Z", until="2026-03-02"), ["failed", "degraded"]),
        (RecordFilter(text="BYRON"), ["other"]),
        (RecordFilter(text="100%"), []),
        (RecordFilter(text="on_on"), []),
        (RecordFilter(has_feedback=True), ["plain"]),
        (RecordFilter(verdict=Verdict.WRONG), ["plain"]),
        (RecordFilter(verdict=Verdict.CORRECT), []),
        (RecordFilter(kind=RequestKind.TASK), ["other"]),
        (RecordFilter(kind=RequestKind.QUESTION), ["failed", "plain", "degraded"]),
    ],
)
async def test_every_filter_finds_its_records(
    database: Database, records: StoredRecords, chosen: RecordFilter, expected: list[str]
) -> None:
    earlier, later = NOON - timedelta(minutes=1), NOON + timedelta(days=1)
    await store(
        database,
        [
            summary("plain", created_at=earlier.isoformat()),
            summary("degraded", degraded_sentences=1, policy="flare"),
            summary("failed", failure="UNAVAILABLE", retrievals=0, answer=""),
            summary(
                "other",
                tenant="research",
                index="films",
                question="Who was Byron?",
                created_at=later.isoformat(),
                kind=RequestKind.TASK,
            ),
        ],
    )
    await records.submit_feedback("plain", Verdict.WRONG)
    chosen = replace(chosen)
    assert sorted(ids((await records.list_records(chosen)).records)) == sorted(
        expected if chosen.until != "2026-03-01T13:00:00+01:00" else ["plain"]
    )


async def test_invalid_filters_are_refused_by_name(records: StoredRecords) -> None:
    chosen = RecordFilter(since="yesterday", until="0000", text="x" * 201)
    with pytest.raises(InvalidRequest) as refused:
        await records.list_records(chosen)
    fields = [each.field for each in refused.value.violations]
    assert fields == ["filter.since", "filter.until", "filter.text"]
    for name in ("tenant", "policy", "index", "request_id", "text"):
        with pytest.raises(InvalidRequest, match=rf"filter.{name}: holds .* U\+0000 at 0"):
            await records.delete_records(RecordFilter(**{name: "\0x"}))  # type: ignore[arg-type]
    assert (await records.list_records(RecordFilter(text=" "))).records == ()
    with pytest.raises(InvalidRequest, match="page_size"):
        await records.list_records(page_size=1001)
    with pytest.raises(InvalidRequest, match="period_s"):
        await records.summarize_records(period_s=59)


async def test_a_caller_sees_the_records_of_its_tenant_only(
    database: Database, records: StoredRecords
) -> None:
    await store(database, [summary("a"), summary("b", tenant="research")])
    with tenant_proved("research"):
        assert ids((await records.list_records()).records) == ["b"]
        with pytest.raises(NotFound) as refused:
            await records.get_record("a")
        with pytest.raises(NotFound) as missing:
            await records.get_record("c")
        assert refused.value.message.replace("'a'", "'c'") == missing.value.message
        with pytest.raises(PermissionDenied):
            await records.list_records(RecordFilter(tenant="sales"))
        with pytest.raises(NotFound):
            await records.submit_feedback("a", Verdict.CORRECT)
        assert await records.delete_records(ids=["a", "b"]) == 1
        assert [each.tenant for each in await records.summarize_records()] == []
    with tenant_proved("operations"):
        assert ids((await records.list_records()).records) == ["a"]
        assert ids((await records.list_records(RecordFilter(tenant="sales"))).records) == ["a"]


async def test_records_are_deleted_with_their_feedback(
    database: Database, records: StoredRecords
) -> None:
    await store(database, [summary(str(at), tenant=f"t{at % 2}") for at in range(1200)])
    await records.submit_feedback("1", Verdict.CORRECT)
    assert await records.delete_records(RecordFilter(tenant="t1")) == 600
    await store(database, [summary("1", tenant="t1")])
    assert (await records.get_record("1")).summary.feedback is None
    assert await records.delete_records(RecordFilter(request_id="request-2")) == 1
    with pytest.raises(InvalidRequest, match="filter"):
        await records.delete_records()
    with pytest.raises(InvalidRequest, match="filter"):
        await records.delete_records(RecordFilter(tenant="t0"), ids=["4"])
    with pytest.raises(InvalidRequest, match="ids"):
        await records.delete_records(ids=[str(at) for at in range(1001)])


async def test_feedback_is_kept_by_record_or_request_and_replaced(
    database: Database, records: StoredRecords
) -> None:
    bare = summary("bare", content=RecordContent.NONE, question="", answer="")
    await store(database, [summary("a", request_id="r"), summary("b", request_id="r"), bare])
    stored = await records.submit_feedback("r", Verdict.WRONG, "It was Paris.")
    assert stored.id == "b"
    assert stored.feedback is not None
    assert (stored.feedback.verdict, stored.feedback.comment) == (Verdict.WRONG, "It was Paris.")
    again = await records.submit_feedback("b", Verdict.PARTIAL)
    assert again.feedback == Feedback(Verdict.PARTIAL, "", again.feedback.created_at)  # type: ignore[union-attr]
    without_text = await records.submit_feedback("bare", Verdict.WRONG, "a name")
    assert without_text.feedback is not None
    assert without_text.feedback.comment == ""
    for comment in ("x" * 2001, "a\x00b"):
        with pytest.raises(InvalidRequest, match="comment"):
            await records.submit_feedback("b", Verdict.CORRECT, comment)
    with pytest.raises(NotFound):
        await records.submit_feedback("none", Verdict.CORRECT)


async def test_records_are_counted_by_period_tenant_and_policy(
    database: Database, records: StoredRecords
) -> None:
    later = (NOON + timedelta(days=1)).isoformat()
    await store(
        database,
        [
            summary("a"),
            summary("b", mean_probability=1.0, latency_ms=150.0, failure="CANCELLED"),
            summary("c", created_at=later, mean_probability=None, abstained=True),
            summary("d", tenant="research", retrievals=0, degraded_sentences=1),
        ],
    )
    await records.submit_feedback("a", Verdict.CORRECT)
    research, first, second = sorted(
        await records.summarize_records(), key=lambda each: (each.tenant, each.start)
    )
    assert (first.start, first.answers, first.failed) == ("2026-03-01T00:00:00.000Z", 2, 1)
    assert (first.mean_probability, first.mean_latency_ms) == (0.75, 100.0)
    assert (first.generated_tokens, first.prompt_tokens, first.retrievals) == (40, 200, 2)
    assert (first.judged_drafts, first.uncertain_drafts, first.correct) == (4, 2, 1)
    moments = first.moments
    assert moments is not None
    assert (moments.judged_squared, moments.uncertain_squared) == (8, 2)
    assert (moments.judged_uncertain, moments.retrievals_squared) == (4, 2)
    assert (moments.with_probability, moments.probability_squared) == (2, 1.25)
    assert moments.latency_squared == 50.0**2 + 150.0**2
    assert (second.start, second.abstained) == ("2026-03-02T00:00:00.000Z", 1)
    assert second.mean_probability is None
    assert second.moments is not None
    assert (second.moments.with_probability, second.moments.probability_squared) == (0, 0.0)
    assert (research.retrieved, research.degraded_sentences) == (0, 1)
    (hour,) = await records.summarize_records(RecordFilter(tenant="research"), period_s=3600)
    assert hour.start == "2026-03-01T12:00:00.000Z"


async def test_old_and_surplus_records_are_deleted(
    database: Database, records: StoredRecords
) -> None:
    now = datetime.now(UTC).isoformat()
    await store(database, [summary("old"), summary("new", created_at=now)])
    assert await clean_up(database, RecordsSettings()) == 1
    assert ids((await records.list_records()).records) == ["new"]
    question = "".join(chr(0x4E00 + (at * 7919) % 20_000) for at in range(60_000))
    await store(database, [summary(str(at), created_at=now, question=question) for at in range(12)])
    deleted = await clean_up(database, RecordsSettings(max_mib=1))
    left = ids((await records.list_records()).records)
    assert 0 < len(left) < 12
    assert deleted == 13 - len(left)
    assert left == [str(at) for at in range(11, 11 - len(left), -1)]


async def test_two_writers_store_a_record_once(database: Database, records: StoredRecords) -> None:
    await asyncio.gather(*(store(database, [summary("a"), summary("b")]) for _ in range(4)))
    assert sorted(ids((await records.list_records()).records)) == ["a", "b"]
