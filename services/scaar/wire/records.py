"""The port of the records over gRPC, and records as bytes."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.json_format import MessageToJson

from scaar.core.ports import Records
from scaar.core.records import (
    EVERY_RECORD,
    AnswerRecord,
    ExplainRecordRequest,
    RecordExplanation,
    RecordFilter,
    RecordGroup,
    RecordPage,
    RecordSummary,
    Verdict,
)
from scaar.core.types import AnswerEvent, AnswerRequest
from scaar.v1 import answer_pb2, orchestrator_pb2
from scaar.v1 import records_pb2 as pb
from scaar.v1 import records_pb2_grpc as pb_grpc
from scaar.wire.conversion import check_response_size
from scaar.wire.messages.codec import codec_of, from_pb, request_to_pb, to_pb
from scaar.wire.messages.fields import carried_text
from scaar.wire.remote import RemoteService
from scaar.wire.request_limits import ServiceLimits

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["RecordsService"].full_name

_LIMITS = ServiceLimits(pb.DESCRIPTOR.services_by_name["RecordsService"])
Context = grpc.aio.ServicerContext[Any, Any]


@dataclass(frozen=True, slots=True)
class _RecordsQuery:
    """The request for a page of records."""

    filter: RecordFilter = EVERY_RECORD
    page_size: int | None = None
    page_token: str = ""


@dataclass(frozen=True, slots=True)
class _DeletionQuery:
    """The request to delete records."""

    filter: RecordFilter = EVERY_RECORD
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _SummaryQuery:
    """The request for counts and means."""

    filter: RecordFilter = EVERY_RECORD
    period_s: int | None = None


@dataclass(frozen=True, slots=True)
class _FeedbackQuery:
    """The request to store a verdict."""

    id: str
    verdict: Verdict
    comment: str = ""


RecordMessage = pb.AnswerRecord


def record_message(
    request: AnswerRequest,
    events: Sequence[AnswerEvent] = (),
    event_ms: Sequence[float] = (),
    error: str = "",
) -> RecordMessage:
    """Return the message of a record without its columns."""
    write_request = codec_of(AnswerRequest, orchestrator_pb2.AnswerRequest).write
    write_event = codec_of(AnswerEvent, answer_pb2.AnswerEvent).write
    return RecordMessage(
        request=write_request(request),
        events=[write_event(each) for each in events],
        event_ms=event_ms,
        error=error,
    )


def without_tokens(record: RecordMessage) -> RecordMessage:
    """Return the record without its drafted tokens, named in ``left_out``."""
    kept = [
        (event, ms)
        for event, ms in zip(record.events, record.event_ms, strict=True)
        if event.WhichOneof("event") != "token_drafted"
    ]
    return RecordMessage(
        request=record.request,
        events=[event for event, _ in kept],
        event_ms=[ms for _, ms in kept],
        error=record.error,
        left_out=[*record.left_out, "tokens"],
    )


def without_passages(record: RecordMessage) -> RecordMessage:
    """Return the record without the texts of its passages, named in ``left_out``."""
    less = RecordMessage()
    less.CopyFrom(record)
    less.left_out.append("passages")
    for event in less.events:
        for found in (event.passages_retrieved, event.finished.answer):
            for passage in found.passages:
                passage.ClearField("text")
    return less


def record_from_bytes(content: bytes, summary: RecordSummary) -> AnswerRecord:
    """Return the record with these columns."""
    message = pb.AnswerRecord.FromString(content)
    message.summary.CopyFrom(to_pb(summary, pb.RecordSummary))
    return from_pb(message, AnswerRecord)


def record_to_json(record: AnswerRecord) -> str:
    """Return a record as a JSON object of the contract, in one line."""
    message = to_pb(record, pb.AnswerRecord)
    return MessageToJson(message, preserving_proto_field_name=True, indent=None)


async def _ready() -> None:
    """Do nothing: the records are always ready."""


class RecordsServicer(pb_grpc.RecordsServiceServicer):
    """Serves any records. The service is ready unless ``check_ready`` raises an error."""

    service_name = SERVICE_NAME
    limits = _LIMITS

    def __init__(
        self, records: Records, *, check_ready: Callable[[], Awaitable[None]] = _ready
    ) -> None:
        self._records = records
        self.check_ready = check_ready

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register the service."""
        pb_grpc.add_RecordsServiceServicer_to_server(self, server)

    async def GetRecord(
        self, request: pb.GetRecordRequest, context: Context
    ) -> pb.GetRecordResponse:
        found = await self._records.get_record(request.id)
        return check_response_size(
            pb.GetRecordResponse(record=to_pb(found, pb.AnswerRecord)),
            field="id",
            advice="lower the orchestrator's records_max_record_kib",
        )

    async def ListRecords(
        self, request: pb.ListRecordsRequest, context: Context
    ) -> pb.ListRecordsResponse:
        query = from_pb(request, _RecordsQuery)
        page = await self._records.list_records(
            query.filter, page_size=query.page_size, page_token=query.page_token
        )
        return check_response_size(
            to_pb(page, pb.ListRecordsResponse), field="page_size", advice="request a smaller page"
        )

    async def DeleteRecords(
        self, request: pb.DeleteRecordsRequest, context: Context
    ) -> pb.DeleteRecordsResponse:
        query = from_pb(request, _DeletionQuery)
        deleted = await self._records.delete_records(query.filter, ids=query.ids)
        return pb.DeleteRecordsResponse(deleted=deleted)

    async def ExplainRecord(
        self, request: pb.ExplainRecordRequest, context: Context
    ) -> pb.ExplainRecordResponse:
        explanation = await self._records.explain_record(from_pb(request, ExplainRecordRequest))
        return to_pb(explanation, pb.ExplainRecordResponse)

    async def SummarizeRecords(
        self, request: pb.SummarizeRecordsRequest, context: Context
    ) -> pb.SummarizeRecordsResponse:
        query = from_pb(request, _SummaryQuery)
        groups = await self._records.summarize_records(query.filter, period_s=query.period_s)
        return pb.SummarizeRecordsResponse(groups=[to_pb(each, pb.RecordGroup) for each in groups])

    async def SubmitFeedback(
        self, request: pb.SubmitFeedbackRequest, context: Context
    ) -> pb.SubmitFeedbackResponse:
        query = from_pb(request, _FeedbackQuery)
        stored = await self._records.submit_feedback(query.id, query.verdict, query.comment)
        return pb.SubmitFeedbackResponse(record=to_pb(stored, pb.RecordSummary))


class RemoteRecords(RemoteService):
    """Records behind a channel."""

    _NAME = SERVICE_NAME
    _STUB = pb_grpc.RecordsServiceStub
    _TIMEOUT_S = 30.0
    _LIMITS = _LIMITS

    async def get_record(self, record_id: str) -> AnswerRecord:
        message = pb.GetRecordRequest(id=carried_text("id", record_id))
        return await self._call("GetRecord", message, lambda got: from_pb(got.record, AnswerRecord))

    async def list_records(
        self,
        records: RecordFilter = EVERY_RECORD,
        *,
        page_size: int | None = None,
        page_token: str = "",
    ) -> RecordPage:
        query = _RecordsQuery(records, page_size, page_token)
        message = request_to_pb(query, pb.ListRecordsRequest)
        return await self._call("ListRecords", message, lambda got: from_pb(got, RecordPage))

    async def delete_records(
        self, records: RecordFilter = EVERY_RECORD, *, ids: Sequence[str] = ()
    ) -> int:
        query = _DeletionQuery(records, tuple(ids))
        message = request_to_pb(query, pb.DeleteRecordsRequest)
        return await self._call("DeleteRecords", message, lambda got: int(got.deleted))

    async def explain_record(self, request: ExplainRecordRequest) -> RecordExplanation:
        message = request_to_pb(request, pb.ExplainRecordRequest)
        return await self._call(
            "ExplainRecord", message, lambda got: from_pb(got, RecordExplanation)
        )

    async def summarize_records(
        self, records: RecordFilter = EVERY_RECORD, *, period_s: int | None = None
    ) -> tuple[RecordGroup, ...]:
        message = request_to_pb(_SummaryQuery(records, period_s), pb.SummarizeRecordsRequest)
        return await self._call(
            "SummarizeRecords",
            message,
            lambda got: tuple(from_pb(each, RecordGroup) for each in got.groups),
        )

    async def submit_feedback(
        self, record_id: str, verdict: Verdict, comment: str = ""
    ) -> RecordSummary:
        query = _FeedbackQuery(record_id, verdict, comment)
        message = request_to_pb(query, pb.SubmitFeedbackRequest)
        return await self._call(
            "SubmitFeedback", message, lambda got: from_pb(got.record, RecordSummary)
        )
