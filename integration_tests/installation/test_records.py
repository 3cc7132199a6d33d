"""Records of an installation's answers and their pages, over gRPC and HTTP as clients use them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from uuid import uuid4

import grpc
import pytest

from scaar.v1.records_pb2 import (
    RECORD_CONTENT_FULL,
    AnswerRecord,
    DeleteRecordsRequest,
    ExplainRecordRequest,
    GetRecordRequest,
    ListRecordsRequest,
    RecordFilter,
    RecordSummary,
)
from scaar.v1.records_pb2_grpc import RecordsServiceStub

from .access import Access
from .client import PATIENCE_S, events, request
from .http_client import send
from .load import steady
from .needs import Need, needs
from .ours.installation import CONSOLE, RECORDS, Installation

pytestmark = needs(Need.RECORDS)
_POLL_S = 0.1


async def summaries(
    records: grpc.aio.Channel, *, request_id: str = "", policy: str = ""
) -> tuple[RecordSummary, ...]:
    """Return the first page of the records that match."""
    chosen = RecordFilter(request_id=request_id, policy=policy)
    listed = await RecordsServiceStub(records).ListRecords(
        ListRecordsRequest(filter=chosen, page_size=100), timeout=PATIENCE_S, wait_for_ready=True
    )
    return tuple(listed.records)


async def record_of(records: grpc.aio.Channel, request_id: str) -> AnswerRecord:
    """Return the record of an answer, which is written after it."""
    async with asyncio.timeout(PATIENCE_S):
        while not (found := await summaries(records, request_id=request_id)):  # noqa: ASYNC110
            await asyncio.sleep(_POLL_S)
    (summary,) = found
    got = await RecordsServiceStub(records).GetRecord(
        GetRecordRequest(id=summary.id), timeout=PATIENCE_S, wait_for_ready=True
    )
    return got.record


@pytest.mark.parametrize("policy", ["scaar", "flare", "no_retrieval"])
async def test_a_record_has_the_events_of_the_answer(
    access: Access, channel: grpc.aio.Channel, policy: str
) -> None:
    requested = request(access, policy)
    requested.request_id = f"recorded-{uuid4()}"
    streamed = [each.event for each in await events(channel, requested)]
    async with access.records_channel() as records:
        record = await record_of(records, requested.request_id)
    assert record.summary.content == RECORD_CONTENT_FULL
    assert record.summary.question == access.question
    assert list(record.events) == streamed
    assert record.summary.retrievals == streamed[-1].finished.answer.usage.retrievals


async def test_a_record_is_explained_by_the_settings_of_its_answer(
    access: Access, channel: grpc.aio.Channel
) -> None:
    requested = request(access, "flare")
    requested.request_id = f"explained-{uuid4()}"
    await events(channel, requested)
    async with access.records_channel() as records:
        record = await record_of(records, requested.request_id)
        explained = await RecordsServiceStub(records).ExplainRecord(
            ExplainRecordRequest(id=record.summary.id), timeout=PATIENCE_S
        )
    assert not explained.HasField("first_difference")
    assert explained.retrievals == explained.recorded_retrievals == record.summary.retrievals
    judged = [x.sentence_judged for x in record.events if x.HasField("sentence_judged")]
    assert [each.judged for each in explained.drafts] == judged


async def test_a_deleted_record_is_gone(access: Access, channel: grpc.aio.Channel) -> None:
    requested = request(access, "no_retrieval")
    requested.request_id = f"deleted-{uuid4()}"
    await events(channel, requested)
    async with access.records_channel() as records:
        await record_of(records, requested.request_id)
        chosen = RecordFilter(request_id=requested.request_id)
        response = await RecordsServiceStub(records).DeleteRecords(
            DeleteRecordsRequest(filter=chosen), timeout=PATIENCE_S
        )
        assert response.deleted == 1
        assert await summaries(records, request_id=requested.request_id) == ()


@needs(Need.CONSOLE)
async def test_the_console_shows_the_answer(access: Access, channel: grpc.aio.Channel) -> None:
    requested = request(access, "scaar")
    requested.request_id = f"shown-{uuid4()}"
    *_, last = await events(channel, requested)
    async with access.records_channel() as records:
        record = await record_of(records, requested.request_id)
    path = f"/answers/{record.summary.id}"
    page = await asyncio.to_thread(send, access, path, urls=access.consoles)
    assert page.status == HTTPStatus.OK, page.text
    assert page.headers["content-type"].startswith("text/html")
    assert access.question in page.text
    assert last.event.finished.answer.answer in page.text
    unknown = await asyncio.to_thread(send, access, "/answers/none", urls=access.consoles)
    assert unknown.status == HTTPStatus.NOT_FOUND


@needs(Need.CONSOLE, Need.TLS, Need.TOKEN)
async def test_a_secured_console_passes_the_token_of_its_caller_on(secured: Access) -> None:
    shown = await asyncio.to_thread(send, secured, "/answers", urls=secured.consoles)
    assert shown.status == HTTPStatus.OK, shown.text
    for token in ("", "another"):
        rejected = await asyncio.to_thread(
            send, secured, "/answers", urls=secured.consoles, token=token
        )
        assert rejected.status == HTTPStatus.UNAUTHORIZED


@asynccontextmanager
async def recorded_answers(access: Access) -> AsyncIterator[None]:
    """Load until the block ends, of which no answer fails and every answer gets its record."""
    answered: list[str] = []
    async with access.channel() as channel, access.records_channel() as records:

        async def ask(_: int) -> int:
            requested = request(access, "no_retrieval")
            requested.request_id = f"load-{uuid4()}"
            await events(channel, requested)
            answered.append(requested.request_id)
            return 0

        async with steady(ask) as load:
            yield
        assert load.failed == []
        for request_id in answered:
            await record_of(records, request_id)


@needs(Need.CONTROL)
@pytest.mark.parametrize(
    "service",
    ["orchestrator", *(pytest.param(each, marks=pytest.mark.long) for each in (RECORDS, CONSOLE))],
)
async def test_every_answer_has_its_record_while_a_service_is_replaced(
    installation: Installation, service: str
) -> None:
    async with recorded_answers(installation.access):
        await asyncio.to_thread(installation.replace, service)


@needs(Need.CONTROL)
async def test_a_killed_service_of_records_fails_no_answer_and_loses_no_record(
    installation: Installation,
) -> None:
    async with recorded_answers(installation.access):
        await asyncio.to_thread(installation.kill, RECORDS)
