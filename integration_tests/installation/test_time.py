"""Time that is used up and clients that leave: the call ends, and so does the work for it."""

import asyncio
import time

import grpc
import pytest

from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub

from .access import Access
from .asking import PATIENCE_S, answer, events, request, streamed, told
from .metrics import Metrics, until
from .needs import Need, needs

GENERATIONS = {"service": "scaar.v1.GeneratorService", "method": "Generate"}
MARGIN_S = 0.2
"""So long before a call's deadline an orchestrator ends, for what it says to get through."""
TRIES = 20


def at_rest(found: Metrics) -> bool:
    """Whether no generation is under way, in the generator and on its server of models."""
    under_way = found.total("scaar_rpc_under_way", **GENERATIONS)
    return not under_way + found.total("tgi_batch_current_size")


def broken_off(found: Metrics) -> float:
    """Generations that were ended before their end."""
    ends = ("CANCELLED", "DEADLINE_EXCEEDED")
    return sum(found.total("scaar_rpc_requests_total", **GENERATIONS, code=code) for code in ends)


def left(found: Metrics) -> float:
    """Answers whose client left."""
    return found.total("scaar_answers_total", policy="no_retrieval", end="cancelled")


def unfinished(found: Metrics) -> float:
    """Generations of a TGI that never came to their end; 0 without one."""
    return found.total("tgi_request_count_total") - found.total("tgi_request_success_total")


async def until_stopped(access: Access, before: Metrics) -> Metrics:
    """The metrics when a generation more was broken off than before, and none goes on."""
    after = await until(
        access, lambda found: at_rest(found) and broken_off(found) > broken_off(before)
    )
    if "tgi_request_count_total" in after.names():
        assert unfinished(after) > unfinished(before)
    return after


async def cut_off(channel: grpc.aio.Channel, access: Access, timeout_s: float) -> bool:
    """Whether the deadline fell into the draft, where the model writes."""
    stub = OrchestratorServiceStub(channel)
    call = stub.StreamAnswer(streamed(request(access, "no_retrieval")), timeout=timeout_s)
    drafting = False
    try:
        async for each in call:
            drafting = each.event.HasField("token_drafted")
    except grpc.aio.AioRpcError as error:
        return drafting and error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    return False


async def test_an_answer_out_of_its_own_time_says_at_which_stage(
    access: Access, channel: grpc.aio.Channel
) -> None:
    asked = request(access, timeout_s=0.001)
    for asking in (answer(channel, asked), events(channel, asked)):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await asking
        said = told(raised.value)
        assert (said.code, said.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED")
        assert said.metadata["stage"]


async def test_a_call_ends_by_its_deadline(access: Access, channel: grpc.aio.Channel) -> None:
    stub = OrchestratorServiceStub(channel)
    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await stub.Answer(request(access), timeout=0.01, wait_for_ready=True)
    assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


@needs(Need.METRICS)
async def test_at_the_deadline_the_work_stops_downstream(
    access: Access, channel: grpc.aio.Channel
) -> None:
    for _ in range(TRIES):
        began = time.monotonic()
        await answer(channel, request(access, "no_retrieval"))
        took_s = time.monotonic() - began
        before = await until(access, at_rest)
        # Most of the time of an answer is the model's.
        if await cut_off(channel, access, took_s / 2 + MARGIN_S):
            break
    else:
        pytest.fail("no deadline fell into a draft")
    await until_stopped(access, before)


@needs(Need.METRICS)
async def test_when_a_client_leaves_the_work_stops_downstream(
    access: Access, channel: grpc.aio.Channel
) -> None:
    stub = OrchestratorServiceStub(channel)
    before = await until(access, at_rest)
    call = stub.StreamAnswer(streamed(request(access, "no_retrieval")), timeout=PATIENCE_S)
    async for each in call:
        if each.event.HasField("token_drafted"):
            break
    call.cancel()
    await until_stopped(access, before)
    await until(access, lambda found: left(found) > left(before))
