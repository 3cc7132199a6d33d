"""The retriever's port over gRPC."""

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import grpc

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.core.ports import IndexKeeper, Retriever
from scaar.core.types import (
    DenseSettings,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    Passage,
    PassageInContext,
    PassageRequest,
    RetrieveRequest,
    RetrieveResult,
)
from scaar.v1 import retriever_pb2 as pb
from scaar.v1 import retriever_pb2_grpc as pb_grpc
from scaar.wire.conversion import check_response_size, convert
from scaar.wire.messages.codec import codec_of, from_pb, request_to_pb, to_pb
from scaar.wire.messages.fields import carried_text
from scaar.wire.remote import RemoteService
from scaar.wire.request_limits import ServiceLimits
from scaar.wire.uploads import draining, unpacked, upload

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["RetrieverService"].full_name

_MAX_EMPTY_MESSAGES = 1_000
"""Maximum number of messages of an upload without passages, whose bytes are not counted."""

_NOT_CHECKED: Mapping[str, bool] = MappingProxyType({})

_PASSAGE = codec_of(Passage, pb.Passage)


@dataclass(frozen=True, slots=True)
class _Build:
    """The settings of a build, which its first message contains."""

    index: str
    mode: IndexMode = IndexMode.CREATE
    metadata_fields: tuple[str, ...] = ()
    dense: DenseSettings | None = None


class IndexReadiness:
    """The health of each index, reported on every change: whole, or damaged or deleted.

    ``whole`` is the state at the start. Later calls update it.
    """

    def __init__(self, service_name: str, whole: Mapping[str, bool]) -> None:
        self._service_name = service_name
        self._whole = dict(whole)
        self._on_change: Callable[[str, bool], None] = lambda name, serving: None

    def report_to(self, on_change: Callable[[str, bool], None]) -> None:
        """Report each index now and on every change, as ``<service>/<index>``."""
        self._on_change = on_change
        for index, whole in self._whole.items():
            on_change(f"{self._service_name}/{index}", whole)

    def set_unavailable(self, index: str) -> None:
        """Report that the index is damaged or deleted."""
        self._set(index, False)

    @contextmanager
    def updated_by_call(self, index: str) -> Iterator[None]:
        """Update the state of the index from a call in the block that reads or builds it."""
        try:
            yield
        except DataCorrupt:
            self._set(index, False)
            raise
        except NotFound as error:
            if index in self._whole and "passage" not in error.metadata:
                self._set(index, False)
            raise
        self._set(index, True)

    def _set(self, index: str, whole: bool) -> None:
        if self._whole.get(index) is not whole:
            self._whole[index] = whole
            self._on_change(f"{self._service_name}/{index}", whole)


class RetrieverServicer(pb_grpc.RetrieverServiceServicer):
    """Serves the indexes of a keeper, searched by itself or through ``searched``.

    ``whole`` is whether each index that was checked at the start is whole.
    """

    service_name = SERVICE_NAME
    limits = ServiceLimits(pb.DESCRIPTOR.services_by_name["RetrieverService"])

    def __init__(
        self,
        indexes: IndexKeeper,
        *,
        searched: Retriever | None = None,
        whole: Mapping[str, bool] = _NOT_CHECKED,
    ) -> None:
        self._indexes = indexes
        self._retriever = searched or indexes
        self._readiness = IndexReadiness(SERVICE_NAME, whole)

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register the service."""
        pb_grpc.add_RetrieverServiceServicer_to_server(self, server)

    def report_readiness(self, on_change: Callable[[str, bool], None]) -> None:
        """Report whether each index is whole, as ``<service>/<index>``, now and on every change."""
        self._readiness.report_to(on_change)

    def report_damaged(self, index: str) -> None:
        """Report that an index was found damaged outside of a call."""
        self._readiness.set_unavailable(index)

    async def Retrieve(
        self, request: pb.RetrieveRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.RetrieveResponse:
        with self._readiness.updated_by_call(request.index):
            queries = await convert(request, RetrieveRequest)
            result = await self._retriever.retrieve(queries)
        return check_response_size(
            to_pb(result, pb.RetrieveResponse),
            field="top_k",
            advice="request fewer passages, or send fewer queries in one call",
        )

    async def GetPassage(
        self, request: pb.GetPassageRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.GetPassageResponse:
        with self._readiness.updated_by_call(request.index):
            read = await self._retriever.get_passage(from_pb(request, PassageRequest))
        return to_pb(read, pb.GetPassageResponse)

    async def IndexPassages(
        self,
        request_iterator: AsyncIterator[pb.IndexPassagesRequest],
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> pb.IndexPassagesResponse:
        first = await anext(request_iterator, pb.IndexPassagesRequest())
        async with (
            draining(request_iterator),
            aclosing(_passages(first, request_iterator)) as passages,
        ):
            build = from_pb(first, _Build)
            with self._readiness.updated_by_call(first.index):
                built = await self._indexes.index_passages(
                    build.index,
                    passages,
                    mode=build.mode,
                    metadata_fields=build.metadata_fields,
                    dense=build.dense,
                )
        return to_pb(built, pb.IndexPassagesResponse)

    async def DeletePassages(
        self, request: pb.DeletePassagesRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.DeletePassagesResponse:
        ids = tuple(request.passage_ids)
        with self._readiness.updated_by_call(request.index):
            deleted = await self._indexes.delete_passages(request.index, ids)
        return pb.DeletePassagesResponse(deleted=deleted)

    async def ListIndexes(
        self, request: pb.ListIndexesRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.ListIndexesResponse:
        indexes = await self._retriever.list_indexes()
        return pb.ListIndexesResponse(
            indexes=[to_pb(index, pb.IndexDescription) for index in indexes]
        )

    async def DescribeIndex(
        self, request: pb.DescribeIndexRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.DescribeIndexResponse:
        index = await self._retriever.describe_index(request.index)
        return pb.DescribeIndexResponse(index=to_pb(index, pb.IndexDescription))

    async def VerifyIndex(
        self, request: pb.VerifyIndexRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.VerifyIndexResponse:
        verification = await self._indexes.verify_index(request.index)
        return to_pb(verification, pb.VerifyIndexResponse)

    async def DropIndex(
        self, request: pb.DropIndexRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.DropIndexResponse:
        await self._indexes.drop_index(request.index)
        self._readiness.set_unavailable(request.index)
        return pb.DropIndexResponse()


async def _passages(
    first: pb.IndexPassagesRequest, later: AsyncIterator[pb.IndexPassagesRequest]
) -> AsyncGenerator[Passage, None]:
    async for passage in unpacked(first.passages, _PASSAGE.read):
        yield passage
    empty = 0
    async for message in later:
        empty += not message.passages
        if empty > _MAX_EMPTY_MESSAGES:
            text = (
                f"must be in every message: at most {_MAX_EMPTY_MESSAGES:,} messages may have none"
            )
            raise InvalidRequest.of("passages", text)
        if message.index not in ("", first.index):
            text = (
                f"must be {first.index!r} or empty after the first message, not {message.index!r}"
            )
            raise InvalidRequest.of("index", text)
        if message.mode not in (pb.INDEX_MODE_UNSPECIFIED, first.mode):
            text = (
                f"must be {first.mode} or unspecified after the first message, not {message.mode}"
            )
            raise InvalidRequest.of("mode", text)
        if message.metadata_fields and message.metadata_fields != first.metadata_fields:
            text = "must be those of the first message or empty"
            raise InvalidRequest.of("metadata_fields", text)
        if message.HasField("dense") and message.dense != first.dense:
            raise InvalidRequest.of("dense", "must be that of the first message or unset")
        async for passage in unpacked(message.passages, _PASSAGE.read):
            yield passage


class RemoteRetriever(RemoteService):
    """A retriever behind a channel.

    ``index_timeout_s`` is the timeout of building or verifying an index, in seconds.
    """

    _NAME = SERVICE_NAME
    _STUB = pb_grpc.RetrieverServiceStub
    _TIMEOUT_S = 10.0

    def __init__(
        self,
        channel: grpc.aio.Channel,
        target: str,
        *,
        timeout_s: float | None = None,
        index_timeout_s: float = 3600.0,
    ) -> None:
        super().__init__(channel, target, timeout_s=timeout_s)
        self._index_timeout_s = index_timeout_s

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        message = request_to_pb(request, pb.RetrieveRequest)
        return await self._call("Retrieve", message, lambda found: from_pb(found, RetrieveResult))

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        message = request_to_pb(request, pb.GetPassageRequest)
        return await self._call(
            "GetPassage", message, lambda found: from_pb(found, PassageInContext)
        )

    async def index_passages(
        self,
        index: str,
        passages: AsyncIterable[Passage],
        *,
        mode: IndexMode = IndexMode.CREATE,
        metadata_fields: Sequence[str] = (),
        dense: DenseSettings | None = None,
    ) -> IndexResult:
        """Build the index. An error raised by ``passages`` cancels the call."""
        build = _Build(index, mode, tuple(metadata_fields), dense)
        return await upload(
            self._stub.IndexPassages(timeout=self._timeout(self._index_timeout_s)),
            request_to_pb(build, pb.IndexPassagesRequest),
            passages,
            add=_add,
            read=lambda built: from_pb(built, IndexResult),
            endpoint=self._endpoint,
            what="passages",
        )

    async def delete_passages(self, index: str, passage_ids: Sequence[str]) -> int:
        message = pb.DeletePassagesRequest(
            index=carried_text("index", index),
            passage_ids=[carried_text("passage_ids", each) for each in passage_ids],
        )
        return await self._call("DeletePassages", message, lambda done: int(done.deleted))

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        return await self._call(
            "ListIndexes",
            pb.ListIndexesRequest(),
            lambda found: tuple(from_pb(each, IndexDescription) for each in found.indexes),
        )

    async def describe_index(self, index: str) -> IndexDescription:
        message = pb.DescribeIndexRequest(index=carried_text("index", index))
        return await self._call(
            "DescribeIndex", message, lambda found: from_pb(found.index, IndexDescription)
        )

    async def verify_index(self, index: str) -> IndexVerification:
        message = pb.VerifyIndexRequest(index=carried_text("index", index))
        return await self._call(
            "VerifyIndex",
            message,
            lambda found: from_pb(found, IndexVerification),
            timeout_s=self._index_timeout_s,
        )

    async def drop_index(self, index: str) -> None:
        message = pb.DropIndexRequest(index=carried_text("index", index))
        await self._call("DropIndex", message, lambda _: None)


def _add(message: pb.IndexPassagesRequest, passage: Passage) -> int:
    message.passages.append(request_to_pb(passage, pb.Passage, field="passages"))
    return message.passages[-1].ByteSize()
