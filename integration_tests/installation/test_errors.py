"""Errors with their details, as docs/contract.md has them."""

from typing import Any

import grpc
import pytest

from scaar.v1.orchestrator_pb2 import AnswerRequest, Budget
from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub

from .access import Access
from .asking import PATIENCE_S, Told, policy_of, request, told


async def refused(channel: grpc.aio.Channel, asked: AnswerRequest) -> Told:
    """What the call's error tells."""
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await OrchestratorServiceStub(channel).Answer(
            asked, timeout=PATIENCE_S, wait_for_ready=True
        )
    return told(raised.value)


async def test_every_wrong_field_is_named_with_its_limit(channel: grpc.aio.Channel) -> None:
    policy = policy_of("scaar")
    policy.scaar.theta = 1.5
    wrong = AnswerRequest(policy=policy, budget=Budget(max_sentences=101, timeout_s=-1))
    said = await refused(channel, wrong)
    assert (said.code, said.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert {"question", "budget.max_sentences", "budget.timeout_s"} <= set(said.fields)
    assert "100" in said.fields["budget.max_sentences"]
    assert [field for field in said.fields if field.startswith("policy")]


async def test_an_index_that_is_not_there_is_named(
    access: Access, channel: grpc.aio.Channel
) -> None:
    asked = request(access, "single_round")
    asked.index = "no-such-index"
    said = await refused(channel, asked)
    assert (said.code, said.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
    assert said.metadata["index"] == "no-such-index"


async def test_a_question_that_is_too_long_is_refused_before_any_work(
    access: Access, channel: grpc.aio.Channel
) -> None:
    asked = request(access)
    asked.question = "who " * 501
    said = await refused(channel, asked)
    assert (said.code, list(said.fields)) == (grpc.StatusCode.INVALID_ARGUMENT, ["question"])
    assert "500" in said.fields["question"]


async def test_a_call_that_is_none_of_the_contract_is_unimplemented(
    channel: grpc.aio.Channel,
) -> None:
    guess: Any = channel.unary_unary("/scaar.v1.OrchestratorService/Guess")
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await guess(b"", timeout=PATIENCE_S, wait_for_ready=True)
    assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED
