"""The ports of the orchestrator over gRPC: answers, and the catalog of policies and indexes."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import grpc
from google.protobuf.json_format import MessageToDict

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    PermissionDenied,
    StreamIncomplete,
    Unauthenticated,
)
from scaar.core.ports import Answerer, Catalog, DraftJudge
from scaar.core.types import (
    ANSWER_TIMEOUT_S,
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    DraftJudgement,
    IndexDescription,
    JudgeDraftRequest,
    OrchestratorDescription,
    PassageInContext,
    PassageRequest,
    PolicyDescription,
    PromptRead,
    SearchRequest,
    SearchResult,
    TokenDrafted,
)
from scaar.core.validation import (
    MAX_TIMEOUT_S,
    validate,
    validate_draft,
    validate_passage,
    validate_search,
)
from scaar.v1 import answer_pb2, retriever_pb2
from scaar.v1 import orchestrator_pb2 as pb
from scaar.v1 import orchestrator_pb2_grpc as pb_grpc
from scaar.wire.calls import REQUEST_ID_KEY
from scaar.wire.conversion import check_response_size
from scaar.wire.messages.codec import from_pb, request_to_pb, to_pb
from scaar.wire.messages.events import (
    answer_event_from_pb,
    answer_event_to_pb,
)
from scaar.wire.remote import RemoteService
from scaar.wire.request_limits import ServiceLimits

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["OrchestratorService"].full_name

_LIMITS = ServiceLimits(pb.DESCRIPTOR.services_by_name["OrchestratorService"])
# Reserved from the caller's time to deliver the answer, or the error that names the stage.
_MARGIN_S = 0.2
# Added to the timeout of the budget, so that the orchestrator ends the call and not its client.
_GRACE_S = 5.0

_DRAFTED = TokenDrafted | PromptRead
"""Events that a request can omit."""
_Timed = TypeVar("_Timed", AnswerRequest, JudgeDraftRequest)
Context = grpc.aio.ServicerContext[Any, Any]


def request_to_json(request: AnswerRequest) -> dict[str, Any]:
    """Return the JSON form of a request, with the names of the contract."""
    message = request_to_pb(replace(request, request_id=""), pb.AnswerRequest)
    found: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True)
    return found


class OrchestratorServicer(pb_grpc.OrchestratorServiceServicer):
    """Serves an answerer, a catalog and a judge of drafts.

    Without catalog or judge, their calls raise CapabilityMissing. ``answer_timeout_s`` is the time
    limit of an answer whose request sets none; None leaves it to the deadline of the call.
    """

    service_name = SERVICE_NAME
    limits = _LIMITS

    def __init__(
        self,
        answerer: Answerer,
        catalog: Catalog | None = None,
        *,
        judge: DraftJudge | None = None,
        answer_timeout_s: float | None = ANSWER_TIMEOUT_S,
    ) -> None:
        self._answer_timeout_s = answer_timeout_s
        self._answerer = answerer
        self._catalog = catalog
        self._judge = judge

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register the service."""
        pb_grpc.add_OrchestratorServiceServicer_to_server(self, server)

    async def Answer(self, request: pb.AnswerRequest, context: Context) -> pb.AnswerResponse:
        async with aclosing(self._events(request, context)) as events:
            async for event in events:
                if isinstance(event, AnswerFinished):
                    return pb.AnswerResponse(answer=to_pb(event.answer, answer_pb2.Answer))
        raise StreamIncomplete("the stream of the answer ended before its last event")

    async def StreamAnswer(
        self, request: pb.StreamAnswerRequest, context: Context
    ) -> AsyncGenerator[pb.StreamAnswerResponse, None]:
        async with aclosing(self._events(request, context)) as events:
            async for event in events:
                if not (request.omit_drafted_tokens and isinstance(event, _DRAFTED)):
                    yield answer_event_to_pb(event)

    async def JudgeDraft(
        self, request: pb.JudgeDraftRequest, context: Context
    ) -> pb.JudgeDraftResponse:
        if self._judge is None:
            raise CapabilityMissing("this orchestrator judges no given drafts")
        draft = self._timed(from_pb(request, JudgeDraftRequest), context)
        with _own_refusals():
            judgement = await self._judge.judge_draft(draft)
        await context.send_initial_metadata(_metadata(judgement.provenance.request_id))
        return to_pb(judgement, pb.JudgeDraftResponse)

    async def ListPolicies(
        self, request: pb.ListPoliciesRequest, context: Context
    ) -> pb.ListPoliciesResponse:
        catalog = self._required_catalog()
        with _own_refusals():
            policies = await catalog.list_policies()
            indexes = await catalog.list_indexes() if request.with_indexes else ()
        return pb.ListPoliciesResponse(
            policies=[to_pb(policy, pb.PolicyDescription) for policy in policies],
            indexes=[to_pb(index, retriever_pb2.IndexDescription) for index in indexes],
        )

    async def ListIndexes(
        self, request: pb.OrchestratorServiceListIndexesRequest, context: Context
    ) -> pb.OrchestratorServiceListIndexesResponse:
        with _own_refusals():
            indexes = await self._required_catalog().list_indexes()
        return pb.OrchestratorServiceListIndexesResponse(
            indexes=[to_pb(index, retriever_pb2.IndexDescription) for index in indexes]
        )

    async def Search(self, request: pb.SearchRequest, context: Context) -> pb.SearchResponse:
        with _own_refusals():
            found = await self._required_catalog().search(from_pb(request, SearchRequest))
        return check_response_size(
            to_pb(found, pb.SearchResponse), field="top_k", advice="request fewer passages"
        )

    async def GetPassage(
        self, request: pb.OrchestratorServiceGetPassageRequest, context: Context
    ) -> pb.OrchestratorServiceGetPassageResponse:
        with _own_refusals():
            found = await self._required_catalog().get_passage(from_pb(request, PassageRequest))
        return to_pb(found, pb.OrchestratorServiceGetPassageResponse)

    async def Describe(self, request: pb.DescribeRequest, context: Context) -> pb.DescribeResponse:
        with _own_refusals():
            return to_pb(await self._required_catalog().describe(), pb.DescribeResponse)

    def _required_catalog(self) -> Catalog:
        if self._catalog is None:
            raise CapabilityMissing("this orchestrator serves answers only")
        return self._catalog

    def _timed(self, request: _Timed, context: Context) -> _Timed:
        """Return the request with the id of its call, and within its time limit and deadline."""
        if not request.request_id:
            request = replace(request, request_id=_request_id_in(context))
        if request.budget.timeout_s is None:
            budget = replace(request.budget, timeout_s=self._answer_timeout_s)
            request = replace(request, budget=budget)
        return _within_deadline(request, context)

    async def _events(
        self, message: pb.AnswerRequest | pb.StreamAnswerRequest, context: Context
    ) -> AsyncGenerator[AnswerEvent, None]:
        request = self._timed(from_pb(message, AnswerRequest), context)
        async with aclosing(self._answerer.stream_answer(request)) as events:
            with _own_refusals():
                async for event in events:
                    if isinstance(event, AnswerStarted):
                        await context.send_initial_metadata(_metadata(event.provenance.request_id))
                    yield event


@contextmanager
def _own_refusals() -> Iterator[None]:
    """Report that a service rejects the orchestrator. Its caller cannot change that."""
    try:
        yield
    except (Unauthenticated, PermissionDenied) as error:
        text = f"a service rejects the orchestrator's credentials: {error.message}"
        raise BackendUnavailable(text) from error


def _within_deadline(request: _Timed, context: Context) -> _Timed:
    """Return the request with the remaining time of the call as its timeout, if that is shorter."""
    remaining: float | None = context.time_remaining()
    given = request.budget.timeout_s
    if remaining is None or (given is not None and remaining - _MARGIN_S >= given):
        return request
    if remaining <= _MARGIN_S:
        raise DeadlineExceeded("no time remains for the answer", stage="opening the answer")
    if given is not None and not given > 0:
        return request
    timeout_s = min(remaining - _MARGIN_S, MAX_TIMEOUT_S)
    return replace(request, budget=replace(request.budget, timeout_s=timeout_s))


def _request_id_in(context: Context) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == REQUEST_ID_KEY and isinstance(value, str):
            return value
    return ""


def _metadata(request_id: str) -> tuple[tuple[str, str], ...]:
    """Return the id as metadata; empty if metadata cannot carry it."""
    fits = request_id.isascii() and request_id.isprintable() and request_id.strip() == request_id
    return ((REQUEST_ID_KEY, request_id),) if request_id and fits else ()


class RemoteAnswerer(RemoteService):
    """An answerer behind a channel, and its judge of drafts.

    The timeout of a call is that of the request's budget plus a grace period if that is less than
    ``timeout_s``.
    """

    _NAME = SERVICE_NAME
    _STUB = pb_grpc.OrchestratorServiceStub
    _TIMEOUT_S = 3600.0
    _LIMITS = _LIMITS

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of the answer. Events that this version does not know are skipped.

        Raises:
            InvalidRequest: naming every wrong field and its limit; nothing is sent.
            StreamIncomplete: the stream ended before the answer.
        """
        validate(request, remote=True)
        received = self._stream(
            "StreamAnswer",
            request_to_pb(request, pb.StreamAnswerRequest),
            answer_event_from_pb,
            timeout_s=self._timeout_of(request),
            metadata=_metadata(request.request_id),
        )
        async with aclosing(received) as events:
            async for event in events:
                if event is not None:
                    yield event
                if isinstance(event, AnswerStarted if request.provenance_only else AnswerFinished):
                    return
        raise StreamIncomplete(f"{self._endpoint} ended the stream of the answer too early")

    async def answer(self, request: AnswerRequest) -> Answer:
        """Return the answer, in one call.

        Raises:
            InvalidRequest: naming every wrong field and its limit; nothing is sent.
        """
        validate(request, remote=True)
        return await self._call(
            "Answer",
            request_to_pb(request, pb.AnswerRequest),
            lambda found: from_pb(found.answer, Answer),
            timeout_s=self._timeout_of(request),
            metadata=_metadata(request.request_id),
        )

    async def judge_draft(self, request: JudgeDraftRequest) -> DraftJudgement:
        """Return the judgement of a given draft.

        Raises:
            InvalidRequest: naming every wrong field and its limit; nothing is sent.
        """
        validate_draft(request, remote=True)
        return await self._call(
            "JudgeDraft",
            request_to_pb(request, pb.JudgeDraftRequest),
            lambda found: from_pb(found, DraftJudgement),
            timeout_s=self._timeout_of(request),
            metadata=_metadata(request.request_id),
        )

    def _timeout_of(self, request: AnswerRequest | JudgeDraftRequest) -> float:
        limit = request.budget.timeout_s
        return self._timeout_s if limit is None else min(self._timeout_s, limit + _GRACE_S)


class RemoteCatalog(RemoteService):
    """The catalog of an orchestrator behind a channel."""

    _NAME = SERVICE_NAME
    _STUB = pb_grpc.OrchestratorServiceStub
    _TIMEOUT_S = 60.0
    _LIMITS = _LIMITS

    async def list_policies(self) -> tuple[PolicyDescription, ...]:
        policies, _ = await self._list(with_indexes=False)
        return policies

    async def list_policies_and_indexes(
        self,
    ) -> tuple[tuple[PolicyDescription, ...], tuple[IndexDescription, ...]]:
        """Return the policies and the indexes, by one call."""
        policies, indexes = await self._list(with_indexes=True)
        # An earlier version returns no indexes with the policies.
        return policies, indexes or await self.list_indexes()

    async def _list(
        self, *, with_indexes: bool
    ) -> tuple[tuple[PolicyDescription, ...], tuple[IndexDescription, ...]]:
        return await self._call(
            "ListPolicies",
            pb.ListPoliciesRequest(with_indexes=with_indexes),
            lambda found: (
                tuple(from_pb(each, PolicyDescription) for each in found.policies),
                tuple(from_pb(each, IndexDescription) for each in found.indexes),
            ),
        )

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        return await self._call(
            "ListIndexes",
            pb.OrchestratorServiceListIndexesRequest(),
            lambda found: tuple(from_pb(each, IndexDescription) for each in found.indexes),
        )

    async def search(self, request: SearchRequest) -> SearchResult:
        """Return the passages for one query, best first.

        Raises:
            InvalidRequest: naming every wrong field and its limit; nothing is sent.
        """
        validate_search(request)
        message = request_to_pb(request, pb.SearchRequest)
        return await self._call("Search", message, lambda found: from_pb(found, SearchResult))

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        """Return a passage by its id, with its neighbours in its document.

        Raises:
            InvalidRequest: naming every wrong field and its limit; nothing is sent.
        """
        validate_passage(request)
        message = request_to_pb(request, pb.OrchestratorServiceGetPassageRequest)
        return await self._call(
            "GetPassage", message, lambda found: from_pb(found, PassageInContext)
        )

    async def describe(self) -> OrchestratorDescription:
        return await self._call(
            "Describe", pb.DescribeRequest(), lambda found: from_pb(found, OrchestratorDescription)
        )
