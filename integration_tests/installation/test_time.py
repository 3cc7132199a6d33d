"""Time that is used up and clients that leave: the call ends, and so does the work for it."""

import asyncio
import time
from collections.abc import Awaitable, Callable

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


def left(found: Metrics) -> float:
    """Answers whose client left."""
    return found.total("scaar_answers_total", policy="no_retrieval", end="cancelled")


def unfinished(found: Metrics) -> float:
    """Generations of a TGI that never came to their end; 0 without one."""
    return found.total("tgi_request_count_total") - found.total("tgi_request_success_total")


async def stopped_by(access: Access, end_early: Callable[[float], Awaitable[None]]) -> Metrics:
    """The metrics from before calls that are ended early, after which no generation goes on.

    Where a TGI counts, the last of them must have ended a generation before its end. Each call is
    ended after another share of its time: a quick model has written all before it is told.
    """
    before = await until(access, at_rest)
    for number in range(TRIES):
        await end_early(((number + TRIES // 2) % TRIES + 0.5) / TRIES)
        after = await until(access, at_rest)
        counted = "tgi_request_count_total" in after.names()
        if not counted or unfinished(after) > unfinished(before):
            return before
    pytest.fail("no generation was ended before its end")


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
    asked = request(access, "no_retrieval")
    await answer(channel, asked)
    first = await until(access, at_rest)
    began = time.monotonic()
    await answer(channel, asked)
    took_s = time.monotonic() - began
    # Of an answer that nobody ends, the generation comes to its end.
    assert unfinished(await until(access, at_rest)) == unfinished(first)

    async def run_out(share: float) -> None:
        stub = OrchestratorServiceStub(channel)
        try:
            await stub.Answer(asked, timeout=share * took_s + MARGIN_S, wait_for_ready=True)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED:
                raise

    await stopped_by(access, run_out)


@needs(Need.METRICS)
async def test_when_a_client_leaves_the_work_stops_downstream(
    access: Access, channel: grpc.aio.Channel
) -> None:
    async def leave(_: float) -> None:
        stub = OrchestratorServiceStub(channel)
        call = stub.StreamAnswer(streamed(request(access, "no_retrieval")), timeout=PATIENCE_S)
        async for each in call:
            if each.event.HasField("token_drafted"):
                break
        call.cancel()

    before = await stopped_by(access, leave)
    await until(access, lambda found: left(found) > left(before))
