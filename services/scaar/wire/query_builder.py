"""The query builder's port over gRPC."""

from typing import Any

import grpc

from scaar.core.ports import QueryBuilder
from scaar.core.types import Query, QueryRequest
from scaar.v1 import query_builder_pb2 as pb
from scaar.v1 import query_builder_pb2_grpc as pb_grpc
from scaar.wire.calls import Endpoint, receive, timeout_within
from scaar.wire.conversion import convert
from scaar.wire.messages.codec import from_pb, request_to_pb, to_pb
from scaar.wire.request_limits import ServiceLimits

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["QueryBuilderService"].full_name


class QueryBuilderServicer(pb_grpc.QueryBuilderServiceServicer):
    """Serves any query builder."""

    service_name = SERVICE_NAME
    limits = ServiceLimits(pb.DESCRIPTOR.services_by_name["QueryBuilderService"])

    def __init__(self, query_builder: QueryBuilder) -> None:
        self._query_builder = query_builder

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register the service."""
        pb_grpc.add_QueryBuilderServiceServicer_to_server(self, server)

    async def BuildQuery(
        self, request: pb.BuildQueryRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.BuildQueryResponse:
        query_request = await convert(request, QueryRequest)
        query = await self._query_builder.build_query(query_request)
        return pb.BuildQueryResponse(query=to_pb(query, pb.Query))


class RemoteQueryBuilder:
    """A query builder behind a channel. ``timeout_s`` is the timeout of a call, in seconds."""

    def __init__(self, channel: grpc.aio.Channel, target: str, *, timeout_s: float = 5.0) -> None:
        self._stub = pb_grpc.QueryBuilderServiceStub(channel)
        self._endpoint = Endpoint(target, SERVICE_NAME)
        self._timeout_s = timeout_s

    async def build_query(self, request: QueryRequest) -> Query:
        call = self._stub.BuildQuery(
            request_to_pb(request, pb.BuildQueryRequest), timeout=self._timeout()
        )
        return await receive(call, lambda built: from_pb(built.query, Query), self._endpoint)

    def _timeout(self) -> float:
        return timeout_within(self._timeout_s, self._endpoint)
