"""Time that is used up and clients that leave: the call ends, and so does the work for it."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import grpc
import pytest

from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub

from .access import Access
from .client import PATIENCE_S, answer, error_details, events, request, stream_request
from .metrics import Metrics, until
from .needs import Need, needs

GENERATIONS = {"service": "scaar.v1.GeneratorService", "method": "Generate"}
MARGIN_S = 0.2
"""So long before a call's deadline an orchestrator ends, for what it says to get through."""
TRIES = 20


def at_rest(found: Metrics) -> bool:
    """Return whether no generation is in progress, in the generator and on its model server."""
    running = found.total("scaar_rpc_in_progress", **GENERATIONS)
    return not running + found.total("tgi_batch_current_size")


def left(found: Metrics) -> float:
    """Answers whose client left."""
    return found.total("scaar_answers_total", policy="no_retrieval", end="cancelled")


def unfinished(found: Metrics) -> float:
    """Generations of a TGI that never came to their end; 0 without one."""
    return found.total("tgi_request_count_total") - found.total("tgi_request_success_total")


async def stopped_by(access: Access, end_early: Callable[[float], Awaitable[None]]) -> Metrics:
    """Return the metrics before calls that are ended early, and assert that no generation remains.

    Where a TGI counts, the last of them must have ended a generation before its end. Each call is
    ended after another share of its time, since a fast model may finish before it is cancelled.
    """
    before = await until(access, at_rest)
    for number in range(TRIES):
        await end_early(((number + TRIES // 2) % TRIES + 0.5) / TRIES)
        after = await until(access, at_rest)
        counted = "tgi_request_count_total" in after.names()
        if not counted or unfinished(after) > unfinished(before):
            return before
    pytest.fail("no generation was ended before its end")


async def test_an_answer_that_times_out_names_the_stage(
    access: Access, channel: grpc.aio.Channel
) -> None:
    requested = request(access, timeout_s=0.001)
    for asking in (answer(channel, requested), events(channel, requested)):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await asking
        said = error_details(raised.value)
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
    requested = request(access, "no_retrieval")
    await answer(channel, requested)
    first = await until(access, at_rest)
    began = time.monotonic()
    await answer(channel, requested)
    took_s = time.monotonic() - began
    # Of an answer that nobody ends, the generation comes to its end.
    assert unfinished(await until(access, at_rest)) == unfinished(first)

    async def run_out(share: float) -> None:
        stub = OrchestratorServiceStub(channel)
        try:
            await stub.Answer(requested, timeout=share * took_s + MARGIN_S, wait_for_ready=True)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED:
                raise

    await stopped_by(access, run_out)


@needs(Need.METRICS)
async def test_a_disconnected_client_stops_the_work_downstream(
    access: Access, channel: grpc.aio.Channel
) -> None:
    async def leave(_: float) -> None:
        stub = OrchestratorServiceStub(channel)
        call = stub.StreamAnswer(
            stream_request(request(access, "no_retrieval")), timeout=PATIENCE_S
        )
        async for each in call:
            if each.event.HasField("token_drafted"):
                break
        call.cancel()

    before = await stopped_by(access, leave)
    await until(access, lambda found: left(found) > left(before))
