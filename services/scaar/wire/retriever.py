"""The retriever's port over gRPC."""

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from types import MappingProxyType
from typing import Any

import grpc

from scaar.core.errors import InvalidRequest
from scaar.core.ports import Retriever
from scaar.core.types import (
    DenseSettings,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    Passage,
    RetrieveRequest,
    RetrieveResult,
)
from scaar.v1 import retriever_pb2 as pb
from scaar.v1 import retriever_pb2_grpc as pb_grpc
from scaar.wire.calls import answered, timeout_within
from scaar.wire.conversion import converted
from scaar.wire.index_readiness import IndexReadiness
from scaar.wire.messages.dense import dense_settings_from_pb, dense_settings_to_pb
from scaar.wire.messages.fields import carried_text
from scaar.wire.messages.retrieval import (
    INDEX_MODE,
    index_from_pb,
    index_mode_from_pb,
    index_result_from_pb,
    index_result_to_pb,
    index_to_pb,
    passage_from_pb,
    passage_to_pb,
    retrieve_request_from_pb,
    retrieve_request_to_pb,
    retrieve_result_from_pb,
    retrieve_result_to_pb,
    verification_from_pb,
    verification_to_pb,
)
from scaar.wire.request_limits import ServiceLimits
from scaar.wire.uploads import unpacked, uploaded

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["RetrieverService"].full_name

_MOST_BYTES = 16 * 1024 * 1024

_MOST_EMPTY = 1_000
"""Messages of an upload that may hold no passage. Their bytes are no part of what is counted."""

_NOT_CHECKED: Mapping[str, bool] = MappingProxyType({})


class RetrieverServicer(pb_grpc.RetrieverServiceServicer):
    """Serves any retriever.

    ``whole`` says of the indexes that were checked at the start whether they can be asked.
    """

    service_name = SERVICE_NAME
    limits = ServiceLimits(pb.DESCRIPTOR.services_by_name["RetrieverService"])

    def __init__(self, retriever: Retriever, *, whole: Mapping[str, bool] = _NOT_CHECKED) -> None:
        self._retriever = retriever
        self._readiness = IndexReadiness(SERVICE_NAME, whole)

    def add_to(self, server: grpc.aio.Server) -> None:
        """Registers the service."""
        pb_grpc.add_RetrieverServiceServicer_to_server(self, server)

    def tell_readiness(self, tell: Callable[[str, bool], None]) -> None:
        """Tells whether each index can be asked, as ``<service>/<index>``, now and on a change."""
        self._readiness.tell(tell)

    def tell_damaged(self, index: str) -> None:
        """Report that an index was found damaged, by other means than a call."""
        self._readiness.gone(index)

    async def Retrieve(
        self, request: pb.RetrieveRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.RetrieveResponse:
        with self._readiness.shown_by(request.index):
            queries = await converted(request, retrieve_request_from_pb)
            result = await self._retriever.retrieve(queries)
        return _carried(retrieve_result_to_pb(result))

    async def IndexPassages(
        self,
        request_iterator: AsyncIterator[pb.IndexPassagesRequest],
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> pb.IndexPassagesResponse:
        first = await anext(request_iterator, pb.IndexPassagesRequest())
        mode = index_mode_from_pb(first.mode)
        dense = dense_settings_from_pb(first.dense) if first.HasField("dense") else None
        async with aclosing(_passages(first, request_iterator)) as passages:
            with self._readiness.shown_by(first.index):
                built = await self._retriever.index_passages(
                    first.index,
                    passages,
                    mode=mode,
                    metadata_fields=tuple(first.metadata_fields),
                    dense=dense,
                )
        return index_result_to_pb(built)

    async def DeletePassages(
        self, request: pb.DeletePassagesRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.DeletePassagesResponse:
        ids = tuple(request.passage_ids)
        with self._readiness.shown_by(request.index):
            deleted = await self._retriever.delete_passages(request.index, ids)
        return pb.DeletePassagesResponse(deleted=deleted)

    async def ListIndexes(
        self, request: pb.ListIndexesRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.ListIndexesResponse:
        indexes = await self._retriever.list_indexes()
        return pb.ListIndexesResponse(indexes=[index_to_pb(index) for index in indexes])

    async def DescribeIndex(
        self, request: pb.DescribeIndexRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.DescribeIndexResponse:
        index = await self._retriever.describe_index(request.index)
        return pb.DescribeIndexResponse(index=index_to_pb(index))

    async def VerifyIndex(
        self, request: pb.VerifyIndexRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.VerifyIndexResponse:
        return verification_to_pb(await self._retriever.verify_index(request.index))

    async def DropIndex(
        self, request: pb.DropIndexRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.DropIndexResponse:
        await self._retriever.drop_index(request.index)
        self._readiness.gone(request.index)
        return pb.DropIndexResponse()


def _carried(response: pb.RetrieveResponse) -> pb.RetrieveResponse:
    """The response, if a message can carry it."""
    if (size := response.ByteSize()) > _MOST_BYTES:
        text = f"asks for {size:,} bytes of passages, more than the {_MOST_BYTES:,} of a message"
        raise InvalidRequest.of("top_k", f"{text}: ask for fewer passages or queries at a time")
    return response


async def _passages(
    first: pb.IndexPassagesRequest, later: AsyncIterator[pb.IndexPassagesRequest]
) -> AsyncGenerator[Passage, None]:
    async for passage in unpacked(first.passages, passage_from_pb):
        yield passage
    empty = 0
    async for message in later:
        empty += not message.passages
        if empty > _MOST_EMPTY:
            text = f"must be in every message: {_MOST_EMPTY:,} without any are the most"
            raise InvalidRequest.of("passages", text)
        if message.index not in ("", first.index):
            text = f"must stay {first.index!r} or empty, not {message.index!r}"
            raise InvalidRequest.of("index", text)
        if message.mode not in (pb.INDEX_MODE_UNSPECIFIED, first.mode):
            text = f"must stay {first.mode} or unspecified, not {message.mode}"
            raise InvalidRequest.of("mode", text)
        if message.metadata_fields and message.metadata_fields != first.metadata_fields:
            text = "must stay those of the first message or empty"
            raise InvalidRequest.of("metadata_fields", text)
        if message.HasField("dense") and message.dense != first.dense:
            raise InvalidRequest.of("dense", "must stay that of the first message or unset")
        async for passage in unpacked(message.passages, passage_from_pb):
            yield passage


class RemoteRetriever:
    """A retriever behind a channel; each call is bounded.

    Those that build an index, or read it whole, have a limit of their own.
    """

    def __init__(
        self,
        channel: grpc.aio.Channel,
        target: str,
        *,
        timeout_s: float = 10.0,
        index_timeout_s: float = 3600.0,
    ) -> None:
        self._stub = pb_grpc.RetrieverServiceStub(channel)
        self._target = target
        self._timeout_s = timeout_s
        self._index_timeout_s = index_timeout_s

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        call = self._stub.Retrieve(retrieve_request_to_pb(request), timeout=self._timeout())
        return await answered(call, retrieve_result_from_pb, self._target)

    async def index_passages(
        self,
        index: str,
        passages: AsyncIterable[Passage],
        *,
        mode: IndexMode = IndexMode.CREATE,
        metadata_fields: Sequence[str] = (),
        dense: DenseSettings | None = None,
    ) -> IndexResult:
        """Builds the index; an error of ``passages`` cancels the call and goes on to the caller."""
        first = pb.IndexPassagesRequest(
            index=carried_text("index", index),
            mode=INDEX_MODE.to_pb(mode),
            metadata_fields=[carried_text("metadata_fields", each) for each in metadata_fields],
            dense=dense_settings_to_pb(dense),
        )
        call = self._stub.IndexPassages(timeout=timeout_within(self._index_timeout_s, self._target))
        return await uploaded(
            call,
            first,
            passages,
            add=_add,
            read=index_result_from_pb,
            target=self._target,
            what="passages",
        )

    async def delete_passages(self, index: str, passage_ids: Sequence[str]) -> int:
        message = pb.DeletePassagesRequest(
            index=carried_text("index", index),
            passage_ids=[carried_text("passage_ids", each) for each in passage_ids],
        )
        call = self._stub.DeletePassages(message, timeout=self._timeout())
        return await answered(call, lambda done: done.deleted, self._target)

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        call = self._stub.ListIndexes(pb.ListIndexesRequest(), timeout=self._timeout())
        return await answered(
            call, lambda found: tuple(index_from_pb(each) for each in found.indexes), self._target
        )

    async def describe_index(self, index: str) -> IndexDescription:
        message = pb.DescribeIndexRequest(index=carried_text("index", index))
        call = self._stub.DescribeIndex(message, timeout=self._timeout())
        return await answered(call, lambda found: index_from_pb(found.index), self._target)

    async def verify_index(self, index: str) -> IndexVerification:
        message = pb.VerifyIndexRequest(index=carried_text("index", index))
        timeout_s = timeout_within(self._index_timeout_s, self._target)
        call = self._stub.VerifyIndex(message, timeout=timeout_s)
        return await answered(call, verification_from_pb, self._target)

    async def drop_index(self, index: str) -> None:
        message = pb.DropIndexRequest(index=carried_text("index", index))
        call = self._stub.DropIndex(message, timeout=self._timeout())
        await answered(call, lambda _: None, self._target)

    def _timeout(self) -> float:
        return timeout_within(self._timeout_s, self._target)


def _add(message: pb.IndexPassagesRequest, passage: Passage) -> int:
    message.passages.append(passage_to_pb(passage))
    return message.passages[-1].ByteSize()
