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
from typing import Any, TypeVar

import grpc

from scaar.core.errors import InvalidRequest, StreamIncomplete
from scaar.core.evaluations import (
    DEFAULT_TENANT,
    EvaluationDescription,
    EvaluationPage,
    EvaluationProgress,
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
    PredictionPage,
    ReportForm,
)
from scaar.core.ports import Evaluator
from scaar.core.tenancy import TENANT_KEY, proved_tenant
from scaar.v1 import evaluator_pb2 as pb
from scaar.v1 import evaluator_pb2_grpc as pb_grpc
from scaar.wire.calls import answered, streamed, timeout_within
from scaar.wire.messages.enums import EVALUATION_STATE, REPORT_FORM
from scaar.wire.messages.evaluation_requests import (
    evaluation_question_from_pb,
    evaluation_question_to_pb,
    evaluation_request_from_pb,
    evaluation_request_to_pb,
)
from scaar.wire.messages.evaluations import (
    evaluation_from_pb,
    evaluation_progress_from_pb,
    evaluation_progress_to_pb,
    evaluation_to_pb,
    evaluations_from_pb,
    evaluations_to_pb,
    predictions_from_pb,
    predictions_to_pb,
)
from scaar.wire.messages.fields import carried_int, carried_text
from scaar.wire.request_limits import ServiceLimits
from scaar.wire.uploads import unpacked, uploaded

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["EvaluatorService"].full_name
_MOST_BYTES = 16 * 1024 * 1024

_Response = TypeVar("_Response", pb.GetReportResponse, pb.ListPredictionsResponse)
Context = grpc.aio.ServicerContext[Any, Any]


async def _ready() -> None:
    """Return at once."""


class EvaluatorServicer(pb_grpc.EvaluatorServiceServicer):
    """Serves any evaluator, which is ready while ``check_ready`` raises nothing."""

    service_name = SERVICE_NAME
    limits = ServiceLimits(pb.DESCRIPTOR.services_by_name["EvaluatorService"])

    def __init__(
        self, evaluator: Evaluator, *, check_ready: Callable[[], Awaitable[None]] = _ready
    ) -> None:
        self._evaluator = evaluator
        self.check_ready = check_ready

    def add_to(self, server: grpc.aio.Server) -> None:
        """Registers the service."""
        pb_grpc.add_EvaluatorServiceServicer_to_server(self, server)

    async def CreateEvaluation(
        self, request_iterator: AsyncIterator[pb.CreateEvaluationRequest], context: Context
    ) -> pb.CreateEvaluationResponse:
        first = await anext(request_iterator, pb.CreateEvaluationRequest())
        request = evaluation_request_from_pb(first, tenant=_tenant_in(context))
        async with aclosing(_questions(first, request_iterator)) as questions:
            created = await self._evaluator.create_evaluation(request, questions)
        return pb.CreateEvaluationResponse(evaluation=evaluation_to_pb(created))

    async def GetEvaluation(
        self, request: pb.GetEvaluationRequest, context: Context
    ) -> pb.GetEvaluationResponse:
        found = await self._evaluator.get_evaluation(request.evaluation_id)
        return pb.GetEvaluationResponse(evaluation=evaluation_to_pb(found))

    async def ListEvaluations(
        self, request: pb.ListEvaluationsRequest, context: Context
    ) -> pb.ListEvaluationsResponse:
        page = await self._evaluator.list_evaluations(
            states=tuple(EVALUATION_STATE.from_pb(each, "states") for each in request.states),
            page_size=request.page_size if request.HasField("page_size") else None,
            page_token=request.page_token,
        )
        return evaluations_to_pb(page)

    async def CancelEvaluation(
        self, request: pb.CancelEvaluationRequest, context: Context
    ) -> pb.CancelEvaluationResponse:
        cancelled = await self._evaluator.cancel_evaluation(request.evaluation_id)
        return pb.CancelEvaluationResponse(evaluation=evaluation_to_pb(cancelled))

    async def WatchEvaluation(
        self, request: pb.WatchEvaluationRequest, context: Context
    ) -> AsyncGenerator[pb.WatchEvaluationResponse, None]:
        async with aclosing(self._evaluator.watch_evaluation(request.evaluation_id)) as told:
            async for progress in told:
                yield evaluation_progress_to_pb(progress)

    async def GetReport(
        self, request: pb.GetReportRequest, context: Context
    ) -> pb.GetReportResponse:
        form = REPORT_FORM.from_pb(request.form, "form")
        content = await self._evaluator.report(request.evaluation_id, form)
        return _carried(pb.GetReportResponse(content=content), "form", "ask for another form")

    async def ListPredictions(
        self, request: pb.ListPredictionsRequest, context: Context
    ) -> pb.ListPredictionsResponse:
        page = await self._evaluator.list_predictions(
            request.evaluation_id,
            setting=request.setting,
            question_id=request.question_id,
            detailed=request.detailed,
            page_size=request.page_size if request.HasField("page_size") else None,
            page_token=request.page_token,
        )
        return _carried(predictions_to_pb(page), "page_size", "ask for fewer at a time")


def _carried(response: _Response, field: str, advice: str) -> _Response:
    """The response, if a message can carry it."""
    if (size := response.ByteSize()) > _MOST_BYTES:
        text = f"comes to {size:,} bytes, more than the {_MOST_BYTES:,} of a message: {advice}"
        raise InvalidRequest.of(field, text)
    return response


def _tenant_in(context: Context) -> str:
    """The tenant that the caller has proved, else the one that the metadata say."""
    if (proved := proved_tenant()) is not None:
        return proved
    for key, value in context.invocation_metadata() or ():
        if key == TENANT_KEY and isinstance(value, str):
            return value
    return DEFAULT_TENANT


async def _questions(
    first: pb.CreateEvaluationRequest, later: AsyncIterator[pb.CreateEvaluationRequest]
) -> AsyncGenerator[EvaluationQuestion, None]:
    async for question in unpacked(first.questions, evaluation_question_from_pb):
        yield question
    async for message in later:
        for field, _ in message.ListFields():
            if field.name != "questions":
                raise InvalidRequest.of(field.name, "is given behind the first message")
        async for question in unpacked(message.questions, evaluation_question_from_pb):
            yield question


class RemoteEvaluator:
    """An evaluator behind a channel; each call is bounded.

    Those that carry many questions, or a report to be made, have a limit of their own, and so has
    watching.
    """

    def __init__(
        self,
        channel: grpc.aio.Channel,
        target: str,
        *,
        timeout_s: float = 10.0,
        long_timeout_s: float = 600.0,
        watch_timeout_s: float = 3600.0,
    ) -> None:
        self._stub = pb_grpc.EvaluatorServiceStub(channel)
        self._target = target
        self._timeout_s = timeout_s
        self._long_timeout_s = long_timeout_s
        self._watch_timeout_s = watch_timeout_s

    async def create_evaluation(
        self, request: EvaluationRequest, questions: AsyncIterable[EvaluationQuestion]
    ) -> EvaluationDescription:
        """Queues it; an error of ``questions`` cancels the call and goes on to the caller."""
        call = self._stub.CreateEvaluation(
            timeout=timeout_within(self._long_timeout_s, self._target),
            metadata=_tenant_metadata(request.tenant),
        )
        return await uploaded(
            call,
            evaluation_request_to_pb(request),
            questions,
            add=_add,
            read=lambda made: evaluation_from_pb(made.evaluation),
            target=self._target,
            what="questions",
        )

    async def get_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        message = pb.GetEvaluationRequest(evaluation_id=_carried_id(evaluation_id))
        call = self._stub.GetEvaluation(message, timeout=self._timeout())
        return await answered(call, lambda got: evaluation_from_pb(got.evaluation), self._target)

    async def list_evaluations(
        self,
        *,
        states: Sequence[EvaluationState] = (),
        page_size: int | None = None,
        page_token: str = "",
    ) -> EvaluationPage:
        message = pb.ListEvaluationsRequest(
            states=[EVALUATION_STATE.to_pb(each) for each in states],
            page_size=None if page_size is None else carried_int("page_size", page_size),
            page_token=carried_text("page_token", page_token),
        )
        call = self._stub.ListEvaluations(message, timeout=self._timeout())
        return await answered(call, evaluations_from_pb, self._target)

    async def cancel_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        message = pb.CancelEvaluationRequest(evaluation_id=_carried_id(evaluation_id))
        call = self._stub.CancelEvaluation(message, timeout=self._timeout())
        return await answered(call, lambda got: evaluation_from_pb(got.evaluation), self._target)

    async def watch_evaluation(
        self, evaluation_id: str
    ) -> AsyncGenerator[EvaluationProgress, None]:
        """How it gets on, until it has ended.

        Raises:
            StreamIncomplete: the stream ended before the evaluation did.
        """
        message = pb.WatchEvaluationRequest(evaluation_id=_carried_id(evaluation_id))
        timeout_s = timeout_within(self._watch_timeout_s, self._target)
        call = self._stub.WatchEvaluation(message, timeout=timeout_s)
        async with aclosing(streamed(call, evaluation_progress_from_pb, self._target)) as told:
            async for progress in told:
                yield progress
                if progress.evaluation.state.ended:
                    return
        raise StreamIncomplete(f"{self._target} ended watching before the evaluation's end")

    async def report(self, evaluation_id: str, form: ReportForm) -> str:
        message = pb.GetReportRequest(
            evaluation_id=_carried_id(evaluation_id), form=REPORT_FORM.to_pb(form)
        )
        timeout_s = timeout_within(self._long_timeout_s, self._target)
        call = self._stub.GetReport(message, timeout=timeout_s)
        return await answered(call, lambda got: got.content, self._target)

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
        message = pb.ListPredictionsRequest(
            evaluation_id=_carried_id(evaluation_id),
            setting=carried_text("setting", setting),
            question_id=carried_text("question_id", question_id),
            detailed=detailed,
            page_size=None if page_size is None else carried_int("page_size", page_size),
            page_token=carried_text("page_token", page_token),
        )
        call = self._stub.ListPredictions(message, timeout=self._timeout())
        return await answered(call, predictions_from_pb, self._target)

    def _timeout(self) -> float:
        return timeout_within(self._timeout_s, self._target)


def _add(message: pb.CreateEvaluationRequest, question: EvaluationQuestion) -> int:
    message.questions.append(evaluation_question_to_pb(question))
    return message.questions[-1].ByteSize()


def _carried_id(evaluation_id: str) -> str:
    return carried_text("evaluation_id", evaluation_id)


def _tenant_metadata(tenant: str) -> tuple[tuple[str, str], ...]:
    """The tenant, if metadata can carry it; none for the default, which who calls may go over."""
    if tenant == DEFAULT_TENANT:
        return ()
    if not (tenant.isascii() and tenant.isprintable() and tenant.strip() == tenant):
        raise InvalidRequest.of("tenant", "must be printable ASCII without white space at its ends")
    return ((TENANT_KEY, tenant),)
