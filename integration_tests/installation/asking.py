"""Questions as a client of the contract asks them, and the errors that come back."""

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

POLICIES = tuple(each.name for each in Policy.DESCRIPTOR.oneofs_by_name["preset"].fields)
"""Every policy of the contract."""
PATIENCE_S = 60.0
"""How long an answer may take, and a test waits for what must come."""


def policy_of(name: str) -> Policy:
    """The policy, its settings the model's or the paper's."""
    policy = Policy()
    getattr(policy, name).SetInParent()
    return policy


def request(access: Access, policy: str = "scaar", **budget: float) -> AnswerRequest:
    """The question under the policy."""
    return AnswerRequest(
        question=access.question,
        index=access.index,
        policy=policy_of(policy),
        budget=Budget(**budget),  # type: ignore[arg-type]
    )


def streamed(asked: AnswerRequest) -> StreamAnswerRequest:
    """The same question, asked for every event."""
    return StreamAnswerRequest.FromString(asked.SerializeToString())


async def answer(channel: grpc.aio.Channel, asked: AnswerRequest) -> AnswerResponse:
    """The answer; it waits for a service that is not there yet."""
    stub = OrchestratorServiceStub(channel)
    return await stub.Answer(asked, timeout=PATIENCE_S, wait_for_ready=True)


async def events(channel: grpc.aio.Channel, asked: AnswerRequest) -> list[StreamAnswerResponse]:
    """Every event of the answer."""
    stub = OrchestratorServiceStub(channel)
    call = stub.StreamAnswer(streamed(asked), timeout=PATIENCE_S, wait_for_ready=True)
    return [each async for each in call]


@dataclass(frozen=True, slots=True)
class Told:
    """What the details of a status say."""

    code: grpc.StatusCode
    reason: str
    metadata: dict[str, str]
    fields: dict[str, str]
    """Wrong fields, and what is wrong with each."""
    retry_after_s: float | None


def told(error: grpc.aio.AioRpcError) -> Told:
    """The error's details; each of them must be scaar's, and all of them say the same code."""
    details = dict(error.trailing_metadata() or ())["grpc-status-details-bin"]
    status = Status.FromString(details)
    assert status.code == error.code().value[0]
    info, bad, retry = ErrorInfo(), BadRequest(), RetryInfo()
    found = [each.Unpack(kind) for each in status.details for kind in (info, bad, retry)]
    assert sum(found) == len(status.details)
    assert info.domain == "scaar"
    waits = retry.retry_delay
    return Told(
        error.code(),
        info.reason,
        dict(info.metadata),
        {each.field: each.description for each in bad.field_violations},
        waits.ToTimedelta().total_seconds() if retry.HasField("retry_delay") else None,
    )
