"""The contribution scorer's port over gRPC."""

from collections.abc import Sequence
from typing import Any

import grpc

from scaar.core.ports import ContributionScorer
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.v1 import scorer_pb2 as pb
from scaar.v1 import scorer_pb2_grpc as pb_grpc
from scaar.wire.calls import Endpoint, receive, timeout_within
from scaar.wire.conversion import convert
from scaar.wire.messages.codec import from_pb, request_to_pb, to_pb
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


class RemoteScorer:
    """A contribution scorer behind a channel. ``timeout_s`` is the timeout of a call."""

    def __init__(self, channel: grpc.aio.Channel, target: str, *, timeout_s: float = 10.0) -> None:
        self._stub = pb_grpc.ScorerServiceStub(channel)
        self._endpoint = Endpoint(target, SERVICE_NAME)
        self._timeout_s = timeout_s

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        message = request_to_pb(requests, pb.ScoreContributionsRequest, _Requests)
        call = self._stub.ScoreContributions(message, timeout=self._timeout())
        return await receive(call, lambda found: from_pb(found, _Contributions), self._endpoint)

    async def describe_model(self) -> ScorerDescription:
        request = pb.ScorerServiceDescribeModelRequest()
        call = self._stub.DescribeModel(request, timeout=self._timeout())
        return await receive(
            call, lambda found: from_pb(found.model, ScorerDescription), self._endpoint
        )

    def _timeout(self) -> float:
        return timeout_within(self._timeout_s, self._endpoint)
