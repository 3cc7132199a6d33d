"""Calls and errors of a client that uses the contract's stubs only."""

from dataclasses import dataclass

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from scaar.v1.orchestrator_pb2 import (
    AnswerRequest,
    AnswerResponse,
    Budget,
    StreamAnswerRequest,
    StreamAnswerResponse,
)
from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub
from scaar.v1.policy_pb2 import Policy

from .access import Access

POLICIES = tuple(
    each.name
    for each in Policy.DESCRIPTOR.oneofs_by_name["preset"].fields
    if each.message_type is not None
)
"""Every policy that has a message in the contract."""
PATIENCE_S = 60.0
"""Maximum time of an answer, and of waiting in a test, in seconds."""


def policy_of(name: str) -> Policy:
    """Return the policy with its defaults: the model's, the papers' or the project's."""
    if name not in POLICIES:
        return Policy(name=name)
    policy = Policy()
    getattr(policy, name).SetInParent()
    return policy


def request(access: Access, policy: str = "scaar", **budget: float) -> AnswerRequest:
    """Return the request of the installation's question with a policy."""
    return AnswerRequest(
        question=access.question,
        index=access.index,
        policy=policy_of(policy),
        budget=Budget(**budget),  # type: ignore[arg-type]
    )


def stream_request(requested: AnswerRequest) -> StreamAnswerRequest:
    """Return the same request as a streaming request."""
    return StreamAnswerRequest.FromString(requested.SerializeToString())


async def answer(channel: grpc.aio.Channel, requested: AnswerRequest) -> AnswerResponse:
    """Return the answer; wait for a service that is not ready yet."""
    stub = OrchestratorServiceStub(channel)
    return await stub.Answer(requested, timeout=PATIENCE_S, wait_for_ready=True)


async def events(channel: grpc.aio.Channel, requested: AnswerRequest) -> list[StreamAnswerResponse]:
    """Return every event of the answer."""
    stub = OrchestratorServiceStub(channel)
    call = stub.StreamAnswer(stream_request(requested), timeout=PATIENCE_S, wait_for_ready=True)
    return [each async for each in call]


@dataclass(frozen=True, slots=True)
class ErrorDetails:
    """Details of a status."""

    code: grpc.StatusCode
    reason: str
    metadata: dict[str, str]
    fields: dict[str, str]
    """Description of each invalid field."""
    retry_after_s: float | None


def error_details(error: grpc.aio.AioRpcError) -> ErrorDetails:
    """Return the details of an error, and assert that they are scaar's and consistent."""
    details = dict(error.trailing_metadata() or ())["grpc-status-details-bin"]
    status = Status.FromString(details)
    assert status.code == error.code().value[0]
    info, bad, retry = ErrorInfo(), BadRequest(), RetryInfo()
    found = [each.Unpack(kind) for each in status.details for kind in (info, bad, retry)]
    assert sum(found) == len(status.details)
    assert info.domain == "scaar"
    waits = retry.retry_delay
    return ErrorDetails(
        error.code(),
        info.reason,
        dict(info.metadata),
        {each.field: each.description for each in bad.field_violations},
        waits.ToTimedelta().total_seconds() if retry.HasField("retry_delay") else None,
    )
