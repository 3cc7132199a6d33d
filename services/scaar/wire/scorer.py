"""The contribution scorer's port over gRPC."""

from collections.abc import Sequence
from typing import Any

import grpc

from scaar.core.ports import ContributionScorer
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.v1 import scorer_pb2 as pb
from scaar.v1 import scorer_pb2_grpc as pb_grpc
from scaar.wire.conversion import convert
from scaar.wire.messages.codec import from_pb, request_to_pb, to_pb
from scaar.wire.remote import RemoteService
from scaar.wire.request_limits import ServiceLimits

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["ScorerService"].full_name

_Requests = tuple[ScoreRequest, ...]
_Contributions = tuple[tuple[float, ...], ...]


class ScorerServicer(pb_grpc.ScorerServiceServicer):
    """Serves any contribution scorer."""

    service_name = SERVICE_NAME
    limits = ServiceLimits(pb.DESCRIPTOR.services_by_name["ScorerService"])

    def __init__(self, scorer: ContributionScorer) -> None:
        self._scorer = scorer

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register the service."""
        pb_grpc.add_ScorerServiceServicer_to_server(self, server)

    async def check_ready(self) -> None:
        """Raise the error of the scorer if the scorer cannot be described."""
        await self._scorer.describe_model()

    async def ScoreContributions(
        self, request: pb.ScoreContributionsRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.ScoreContributionsResponse:
        requests = await convert(request, _Requests)
        contributions = await self._scorer.score_contributions(requests)
        return to_pb(contributions, pb.ScoreContributionsResponse, _Contributions)

    async def DescribeModel(
        self,
        request: pb.ScorerServiceDescribeModelRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> pb.ScorerServiceDescribeModelResponse:
        scorer = await self._scorer.describe_model()
        return pb.ScorerServiceDescribeModelResponse(model=to_pb(scorer, pb.ScorerDescription))


class RemoteScorer(RemoteService):
    """A contribution scorer behind a channel."""

    _NAME = SERVICE_NAME
    _STUB = pb_grpc.ScorerServiceStub
    _TIMEOUT_S = 10.0

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        message = request_to_pb(requests, pb.ScoreContributionsRequest, _Requests)
        return await self._call(
            "ScoreContributions", message, lambda found: from_pb(found, _Contributions)
        )

    async def describe_model(self) -> ScorerDescription:
        message = pb.ScorerServiceDescribeModelRequest()
        return await self._call(
            "DescribeModel", message, lambda found: from_pb(found.model, ScorerDescription)
        )
