"""Errors with their details, as docs/contract.md has them."""

from typing import Any

import grpc
import pytest

from scaar.v1.orchestrator_pb2 import AnswerRequest, Budget
from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub

from .access import Access
from .client import PATIENCE_S, ErrorDetails, error_details, policy_of, request


async def refused(channel: grpc.aio.Channel, requested: AnswerRequest) -> ErrorDetails:
    """What the call's error tells."""
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await OrchestratorServiceStub(channel).Answer(
            requested, timeout=PATIENCE_S, wait_for_ready=True
        )
    return error_details(raised.value)


async def test_every_wrong_field_is_named_with_its_limit(channel: grpc.aio.Channel) -> None:
    policy = policy_of("scaar")
    policy.scaar.theta = 1.5
    wrong = AnswerRequest(policy=policy, budget=Budget(max_sentences=101, timeout_s=-1))
    said = await refused(channel, wrong)
    assert (said.code, said.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert {"question", "budget.max_sentences", "budget.timeout_s"} <= set(said.fields)
    assert "100" in said.fields["budget.max_sentences"]
    assert [field for field in said.fields if field.startswith("policy")]


async def test_a_missing_index_is_named(access: Access, channel: grpc.aio.Channel) -> None:
    requested = request(access, "single_round")
    requested.index = "no-such-index"
    said = await refused(channel, requested)
    assert (said.code, said.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
    assert said.metadata["index"] == "no-such-index"


async def test_a_question_that_is_too_long_is_refused_before_any_work(
    access: Access, channel: grpc.aio.Channel
) -> None:
    requested = request(access)
    requested.question = "who " * 32_769
    said = await refused(channel, requested)
    assert (said.code, list(said.fields)) == (grpc.StatusCode.INVALID_ARGUMENT, ["question"])
    assert "131,072" in said.fields["question"]


async def test_a_call_outside_the_contract_is_unimplemented(
    channel: grpc.aio.Channel,
) -> None:
    guess: Any = channel.unary_unary("/scaar.v1.OrchestratorService/Guess")
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await guess(b"", timeout=PATIENCE_S, wait_for_ready=True)
    assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED
