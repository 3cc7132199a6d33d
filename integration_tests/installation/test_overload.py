"""More calls at a time than a tenant may have: refused, and told when to come again."""

import asyncio
from dataclasses import replace

import grpc

from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub

from .asking import PATIENCE_S, answer, request, told
from .needs import Need, needs
from .ours.configured import TENANT_CALLS
from .ours.installation import Installation

MORE = 3


@needs(Need.CONTROL)
async def test_one_call_too_many_is_told_when_to_come_again(installation: Installation) -> None:
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
    refused = [told(each) for each in results if isinstance(each, grpc.aio.AioRpcError)]
    assert len(refused) == MORE
    for each in refused:
        assert (each.code, each.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")
        assert each.retry_after_s
        assert each.retry_after_s > 0
