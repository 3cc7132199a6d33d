"""More calls than a tenant may have, and more answers than can be served, are refused in time."""

import asyncio
from dataclasses import replace

import grpc

from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub

from .access import Access
from .client import PATIENCE_S, answer, error_details, request, stream_request
from .needs import Need, needs
from .ours.installation import Installation
from .ours.settings import TENANT_CALLS

MORE = 3
TENANTS = 10
"""Tenants that ask as much as each may, more together than the generators serve."""


@needs(Need.CONTROL)
async def test_a_call_above_the_limit_gets_a_retry_delay(installation: Installation) -> None:
    access = replace(installation.access, target=installation.replicas("orchestrator")[0])
    crowd = (("x-scaar-tenant", "crowd"),)
    async with access.channel() as channel:
        await answer(channel, request(access, "no_retrieval"))
        stub = OrchestratorServiceStub(channel)
        calls = [
            stub.Answer(request(access), metadata=crowd, timeout=PATIENCE_S)
            for _ in range(TENANT_CALLS + MORE)
        ]
        results = await asyncio.gather(*calls, return_exceptions=True)
    refused = [error_details(each) for each in results if isinstance(each, grpc.aio.AioRpcError)]
    assert len(refused) == MORE
    for each in refused:
        assert (each.code, each.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")
        assert each.retry_after_s
        assert each.retry_after_s > 0


@needs(Need.CONTROL)
async def test_answers_above_the_capacity_are_rejected_before_a_model_call(
    installation: Installation,
) -> None:
    access = replace(installation.access, target=installation.replicas("orchestrator")[0])
    async with access.channel() as channel:
        await answer(channel, request(access, "no_retrieval"))
        outcomes = await asyncio.gather(
            *(
                _outcome(channel, access, f"tenant-{tenant}")
                for tenant in range(TENANTS)
                for _ in range(TENANT_CALLS)
            )
        )
    refused = [(kinds, error) for kinds, error in outcomes if error is not None]
    assert 0 < len(refused) < len(outcomes)
    for kinds, error in refused:
        assert (error.code(), kinds) in (
            (grpc.StatusCode.RESOURCE_EXHAUSTED, set()),
            (grpc.StatusCode.RESOURCE_EXHAUSTED, {"started"}),
        )
        assert error_details(error).retry_after_s
    assert all("finished" in kinds for kinds, error in outcomes if error is None)


async def _outcome(
    channel: grpc.aio.Channel, access: Access, tenant: str
) -> tuple[set[str], grpc.aio.AioRpcError | None]:
    """The kinds of events that came, and the error that followed, if any."""
    stub, kinds = OrchestratorServiceStub(channel), set[str]()
    metadata = (("x-scaar-tenant", tenant),)
    call = stub.StreamAnswer(stream_request(request(access)), metadata=metadata, timeout=PATIENCE_S)
    try:
        async for each in call:
            kinds.add(str(each.event.WhichOneof("event")))
    except grpc.aio.AioRpcError as error:
        return kinds, error
    return kinds, None
