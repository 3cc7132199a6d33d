"""The contribution scorer's port over gRPC."""

from collections.abc import Sequence
from typing import Any

import grpc

from scaar.core.ports import ContributionScorer
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.v1 import scorer_pb2 as pb
from scaar.v1 import scorer_pb2_grpc as pb_grpc
from scaar.wire.calls import answered, timeout_within
from scaar.wire.conversion import converted
from scaar.wire.messages.scoring import (
    contributions_from_pb,
    contributions_to_pb,
    score_requests_from_pb,
    score_requests_to_pb,
    scorer_from_pb,
    scorer_to_pb,
)
from scaar.wire.request_limits import ServiceLimits

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["ScorerService"].full_name


class ScorerServicer(pb_grpc.ScorerServiceServicer):
    """Serves any contribution scorer."""

    service_name = SERVICE_NAME
    limits = ServiceLimits(pb.DESCRIPTOR.services_by_name["ScorerService"])

    def __init__(self, scorer: ContributionScorer) -> None:
        self._scorer = scorer

    def add_to(self, server: grpc.aio.Server) -> None:
        """Registers the service."""
        pb_grpc.add_ScorerServiceServicer_to_server(self, server)

    async def check_ready(self) -> None:
        """Raises what a call would, while the scorer cannot even say what it is."""
        await self._scorer.describe_model()

    async def ScoreContributions(
        self, request: pb.ScoreContributionsRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.ScoreContributionsResponse:
        requests = await converted(request, score_requests_from_pb)
        return contributions_to_pb(await self._scorer.score_contributions(requests))

    async def DescribeModel(
        self,
        request: pb.ScorerServiceDescribeModelRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> pb.ScorerServiceDescribeModelResponse:
        scorer = await self._scorer.describe_model()
        return pb.ScorerServiceDescribeModelResponse(model=scorer_to_pb(scorer))


class RemoteScorer:
    """A contribution scorer behind a channel; ``timeout_s`` bounds each call."""

    def __init__(self, channel: grpc.aio.Channel, target: str, *, timeout_s: float = 10.0) -> None:
        self._stub = pb_grpc.ScorerServiceStub(channel)
        self._target = target
        self._timeout_s = timeout_s

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        message = score_requests_to_pb(requests)
        call = self._stub.ScoreContributions(message, timeout=self._timeout())
        return await answered(call, contributions_from_pb, self._target)

    async def describe_model(self) -> ScorerDescription:
        request = pb.ScorerServiceDescribeModelRequest()
        call = self._stub.DescribeModel(request, timeout=self._timeout())
        return await answered(call, lambda found: scorer_from_pb(found.model), self._target)

    def _timeout(self) -> float:
        return timeout_within(self._timeout_s, self._target)
