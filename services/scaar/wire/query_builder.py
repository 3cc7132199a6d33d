"""The query builder's port over gRPC."""

from typing import Any

import grpc

from scaar.core.ports import QueryBuilder
from scaar.core.types import Query, QueryRequest
from scaar.v1 import query_builder_pb2 as pb
from scaar.v1 import query_builder_pb2_grpc as pb_grpc
from scaar.wire.calls import answered, timeout_within
from scaar.wire.conversion import converted
from scaar.wire.messages.querying import (
    query_from_pb,
    query_request_from_pb,
    query_request_to_pb,
    query_to_pb,
)
from scaar.wire.request_limits import ServiceLimits

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["QueryBuilderService"].full_name


class QueryBuilderServicer(pb_grpc.QueryBuilderServiceServicer):
    """Serves any query builder."""

    service_name = SERVICE_NAME
    limits = ServiceLimits(pb.DESCRIPTOR.services_by_name["QueryBuilderService"])

    def __init__(self, query_builder: QueryBuilder) -> None:
        self._query_builder = query_builder

    def add_to(self, server: grpc.aio.Server) -> None:
        """Registers the service."""
        pb_grpc.add_QueryBuilderServiceServicer_to_server(self, server)

    async def BuildQuery(
        self, request: pb.BuildQueryRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.BuildQueryResponse:
        query_request = await converted(request, query_request_from_pb)
        query = await self._query_builder.build_query(query_request)
        return pb.BuildQueryResponse(query=query_to_pb(query))


class RemoteQueryBuilder:
    """A query builder behind a channel; ``timeout_s`` bounds each call."""

    def __init__(self, channel: grpc.aio.Channel, target: str, *, timeout_s: float = 5.0) -> None:
        self._stub = pb_grpc.QueryBuilderServiceStub(channel)
        self._target = target
        self._timeout_s = timeout_s

    async def build_query(self, request: QueryRequest) -> Query:
        call = self._stub.BuildQuery(query_request_to_pb(request), timeout=self._timeout())
        return await answered(call, lambda built: query_from_pb(built.query), self._target)

    def _timeout(self) -> float:
        return timeout_within(self._timeout_s, self._target)
