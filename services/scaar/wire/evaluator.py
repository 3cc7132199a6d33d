"""The evaluator's port over gRPC."""

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

import grpc

from scaar.core.errors import InvalidRequest, StreamIncomplete
from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationPage,
    EvaluationProgress,
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
    PredictionPage,
    ReportFormat,
)
from scaar.core.ports import Evaluator
from scaar.core.tenancy import DEFAULT_TENANT, TENANT_KEY, proved_tenant, wrong_tenant
from scaar.v1 import evaluator_pb2 as pb
from scaar.v1 import evaluator_pb2_grpc as pb_grpc
from scaar.wire.conversion import check_response_size
from scaar.wire.messages.codec import codec_of, from_pb, request_to_pb, to_pb
from scaar.wire.messages.fields import carried_text
from scaar.wire.remote import Metadata, RemoteService
from scaar.wire.request_limits import ServiceLimits
from scaar.wire.uploads import draining, unpacked, upload

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["EvaluatorService"].full_name

_LIMITS = ServiceLimits(pb.DESCRIPTOR.services_by_name["EvaluatorService"])
_QUESTION = codec_of(EvaluationQuestion, pb.EvaluationQuestion)
Context = grpc.aio.ServicerContext[Any, Any]


@dataclass(frozen=True, slots=True)
class _EvaluationsQuery:
    """The request for a page of evaluations."""

    states: tuple[EvaluationState, ...] = ()
    page_size: int | None = None
    page_token: str = ""


@dataclass(frozen=True, slots=True)
class _ReportQuery:
    """The request for a report."""

    evaluation_id: str
    format: ReportFormat


@dataclass(frozen=True, slots=True)
class _PredictionsQuery:
    """The request for a page of predictions."""

    evaluation_id: str
    setting: str = ""
    question_id: str = ""
    detailed: bool = False
    page_size: int | None = None
    page_token: str = ""


async def _ready() -> None:
    """Do nothing: the evaluator is always ready."""


class EvaluatorServicer(pb_grpc.EvaluatorServiceServicer):
    """Serves any evaluator. The service is ready unless ``check_ready`` raises an error."""

    service_name = SERVICE_NAME
    limits = _LIMITS

    def __init__(
        self, evaluator: Evaluator, *, check_ready: Callable[[], Awaitable[None]] = _ready
    ) -> None:
        self._evaluator = evaluator
        self.check_ready = check_ready

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register the service."""
        pb_grpc.add_EvaluatorServiceServicer_to_server(self, server)

    async def CreateEvaluation(
        self, request_iterator: AsyncIterator[pb.CreateEvaluationRequest], context: Context
    ) -> pb.CreateEvaluationResponse:
        first = await anext(request_iterator, pb.CreateEvaluationRequest())
        async with (
            draining(request_iterator),
            aclosing(_questions(first, request_iterator)) as questions,
        ):
            request = replace(from_pb(first, EvaluationRequest), tenant=_tenant_in(context))
            created = await self._evaluator.create_evaluation(request, questions)
        return pb.CreateEvaluationResponse(evaluation=to_pb(created, pb.Evaluation))

    async def GetEvaluation(
        self, request: pb.GetEvaluationRequest, context: Context
    ) -> pb.GetEvaluationResponse:
        found = await self._evaluator.get_evaluation(request.evaluation_id)
        return pb.GetEvaluationResponse(evaluation=to_pb(found, pb.Evaluation))

    async def ListEvaluations(
        self, request: pb.ListEvaluationsRequest, context: Context
    ) -> pb.ListEvaluationsResponse:
        query = from_pb(request, _EvaluationsQuery)
        page = await self._evaluator.list_evaluations(
            states=query.states, page_size=query.page_size, page_token=query.page_token
        )
        return to_pb(page, pb.ListEvaluationsResponse)

    async def CancelEvaluation(
        self, request: pb.CancelEvaluationRequest, context: Context
    ) -> pb.CancelEvaluationResponse:
        cancelled = await self._evaluator.cancel_evaluation(request.evaluation_id)
        return pb.CancelEvaluationResponse(evaluation=to_pb(cancelled, pb.Evaluation))

    async def ResumeEvaluation(
        self, request: pb.ResumeEvaluationRequest, context: Context
    ) -> pb.ResumeEvaluationResponse:
        resumed = await self._evaluator.resume_evaluation(
            request.evaluation_id, retry_failed=request.retry_failed
        )
        return pb.ResumeEvaluationResponse(evaluation=to_pb(resumed, pb.Evaluation))

    async def WatchEvaluation(
        self, request: pb.WatchEvaluationRequest, context: Context
    ) -> AsyncGenerator[pb.WatchEvaluationResponse, None]:
        async with aclosing(self._evaluator.watch_evaluation(request.evaluation_id)) as reports:
            async for progress in reports:
                yield to_pb(progress, pb.WatchEvaluationResponse)

    async def GetReport(
        self, request: pb.GetReportRequest, context: Context
    ) -> pb.GetReportResponse:
        query = from_pb(request, _ReportQuery)
        content = await self._evaluator.report(query.evaluation_id, query.format)
        return check_response_size(
            pb.GetReportResponse(content=content), field="format", advice="request another format"
        )

    async def ListPredictions(
        self, request: pb.ListPredictionsRequest, context: Context
    ) -> pb.ListPredictionsResponse:
        query = from_pb(request, _PredictionsQuery)
        page = await self._evaluator.list_predictions(
            query.evaluation_id,
            setting=query.setting,
            question_id=query.question_id,
            detailed=query.detailed,
            page_size=query.page_size,
            page_token=query.page_token,
        )
        return check_response_size(
            to_pb(page, pb.ListPredictionsResponse),
            field="page_size",
            advice="request a smaller page",
        )


def _tenant_in(context: Context) -> str:
    """Return the tenant that the caller has proved, else the tenant in the metadata."""
    if (proved := proved_tenant()) is not None:
        return proved
    for key, value in context.invocation_metadata() or ():
        if key == TENANT_KEY and isinstance(value, str):
            return value
    return DEFAULT_TENANT


async def _questions(
    first: pb.CreateEvaluationRequest, later: AsyncIterator[pb.CreateEvaluationRequest]
) -> AsyncGenerator[EvaluationQuestion, None]:
    async for question in unpacked(first.questions, _QUESTION.read):
        yield question
    async for message in later:
        for field, _ in message.ListFields():
            if field.name != "questions":
                raise InvalidRequest.of(field.name, "must be in the first message only")
        async for question in unpacked(message.questions, _QUESTION.read):
            yield question


class RemoteEvaluator(RemoteService):
    """An evaluator behind a channel.

    ``long_timeout_s`` is the timeout of creating an evaluation and of a report, ``watch_timeout_s``
    that of watching an evaluation.
    """

    _NAME = SERVICE_NAME
    _STUB = pb_grpc.EvaluatorServiceStub
    _TIMEOUT_S = 10.0
    _LIMITS = _LIMITS

    def __init__(
        self,
        channel: grpc.aio.Channel,
        target: str,
        *,
        timeout_s: float | None = None,
        long_timeout_s: float = 600.0,
        watch_timeout_s: float = 3600.0,
        metadata: Metadata = (),
    ) -> None:
        super().__init__(channel, target, timeout_s=timeout_s, metadata=metadata)
        self._long_timeout_s = long_timeout_s
        self._watch_timeout_s = watch_timeout_s

    async def create_evaluation(
        self, request: EvaluationRequest, questions: AsyncIterable[EvaluationQuestion]
    ) -> EvaluationDescription:
        """Create the evaluation. An error raised by ``questions`` cancels the call."""
        first = self._checked(
            "CreateEvaluation", request_to_pb(request, pb.CreateEvaluationRequest)
        )
        call = self._stub.CreateEvaluation(
            timeout=self._timeout(self._long_timeout_s),
            metadata=_with_tenant(self._metadata, request.tenant),
        )
        return await upload(
            call,
            first,
            questions,
            add=_add,
            check=lambda message: self._checked("CreateEvaluation", message),
            read=_described,
            endpoint=self._endpoint,
            what="questions",
        )

    async def get_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        message = pb.GetEvaluationRequest(evaluation_id=_carried_id(evaluation_id))
        return await self._call("GetEvaluation", message, _described)

    async def list_evaluations(
        self,
        *,
        states: Sequence[EvaluationState] = (),
        page_size: int | None = None,
        page_token: str = "",
    ) -> EvaluationPage:
        query = _EvaluationsQuery(tuple(states), page_size, page_token)
        message = request_to_pb(query, pb.ListEvaluationsRequest)
        return await self._call(
            "ListEvaluations", message, lambda found: from_pb(found, EvaluationPage)
        )

    async def cancel_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        message = pb.CancelEvaluationRequest(evaluation_id=_carried_id(evaluation_id))
        return await self._call("CancelEvaluation", message, _described)

    async def resume_evaluation(
        self, evaluation_id: str, *, retry_failed: bool = False
    ) -> EvaluationDescription:
        message = pb.ResumeEvaluationRequest(
            evaluation_id=_carried_id(evaluation_id), retry_failed=retry_failed
        )
        return await self._call("ResumeEvaluation", message, _described)

    async def watch_evaluation(
        self, evaluation_id: str
    ) -> AsyncGenerator[EvaluationProgress, None]:
        """Yield the progress of the evaluation until it has ended.

        Raises:
            StreamIncomplete: the stream ended before the evaluation did.
        """
        message = pb.WatchEvaluationRequest(evaluation_id=_carried_id(evaluation_id))
        responses = self._stream(
            "WatchEvaluation",
            message,
            lambda found: from_pb(found, EvaluationProgress),
            timeout_s=self._watch_timeout_s,
        )
        async with aclosing(responses) as reports:
            async for progress in reports:
                yield progress
                if progress.evaluation.state.ended:
                    return
        raise StreamIncomplete(f"{self._endpoint} ended the progress before the evaluation ended")

    async def report(self, evaluation_id: str, report_format: ReportFormat) -> str:
        query = _ReportQuery(evaluation_id, report_format)
        message = request_to_pb(query, pb.GetReportRequest)
        return await self._call(
            "GetReport",
            message,
            lambda found: str(found.content),
            timeout_s=self._long_timeout_s,
        )

    async def list_predictions(
        self,
        evaluation_id: str,
        *,
        setting: str = "",
        question_id: str = "",
        detailed: bool = False,
        page_size: int | None = None,
        page_token: str = "",
    ) -> PredictionPage:
        query = _PredictionsQuery(
            evaluation_id, setting, question_id, detailed, page_size, page_token
        )
        message = request_to_pb(query, pb.ListPredictionsRequest)
        return await self._call(
            "ListPredictions", message, lambda found: from_pb(found, PredictionPage)
        )


def _add(message: pb.CreateEvaluationRequest, question: EvaluationQuestion) -> int:
    message.questions.append(request_to_pb(question, pb.EvaluationQuestion, field="questions"))
    return message.questions[-1].ByteSize()


def _described(response: Any) -> EvaluationDescription:
    return from_pb(response.evaluation, EvaluationDescription)


def _carried_id(evaluation_id: str) -> str:
    return carried_text("evaluation_id", evaluation_id)


def _with_tenant(metadata: Metadata, tenant: str) -> Metadata:
    """Return the metadata with the tenant of a request; unchanged for the default tenant."""
    if tenant == DEFAULT_TENANT:
        return metadata
    if wrong := wrong_tenant(tenant):
        raise InvalidRequest.of("tenant", wrong)
    return (*(each for each in metadata if each[0] != TENANT_KEY), (TENANT_KEY, tenant))
