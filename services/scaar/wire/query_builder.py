"""The query builder's port over gRPC."""

from typing import Any

import grpc

from scaar.core.ports import QueryBuilder
from scaar.core.types import Query, QueryRequest
from scaar.v1 import query_builder_pb2 as pb
from scaar.v1 import query_builder_pb2_grpc as pb_grpc
from scaar.wire.conversion import convert
from scaar.wire.messages.codec import from_pb, request_to_pb, to_pb
from scaar.wire.remote import RemoteService
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


class RemoteQueryBuilder(RemoteService):
    """A query builder behind a channel."""

    _NAME = SERVICE_NAME
    _STUB = pb_grpc.QueryBuilderServiceStub
    _TIMEOUT_S = 5.0

    async def build_query(self, request: QueryRequest) -> Query:
        message = request_to_pb(request, pb.BuildQueryRequest)
        return await self._call("BuildQuery", message, lambda built: from_pb(built.query, Query))
