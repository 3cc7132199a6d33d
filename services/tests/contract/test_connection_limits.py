"""A server bounds its connections: their number, and how long one may stay open without a call."""

import asyncio
from contextlib import AsyncExitStack

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.settings import ServiceSettings
from scaar.testing.fakes import ScriptedGenerator
from scaar.testing.sockets import serving
from scaar.wire.generator import GeneratorServicer

ONE_ATTEMPT = ChannelSettings(attempts=1)


async def ask(channel: grpc.aio.Channel) -> int:
    request = health_pb2.HealthCheckRequest(service="")
    return int((await health_pb2_grpc.HealthStub(channel).Check(request, timeout=10)).status)


async def test_a_connection_over_the_limit_is_refused_until_another_is_closed() -> None:
    settings = ServiceSettings(max_connections=2, stop_grace_s=0)
    async with AsyncExitStack() as stack:
        serve = serving(GeneratorServicer(ScriptedGenerator({})), settings)
        first, target = await stack.enter_async_context(serve)
        assert await ask(first) == health_pb2.HealthCheckResponse.SERVING
        async with open_channel(target, settings=ONE_ATTEMPT) as second:
            await ask(second)
            third = await stack.enter_async_context(open_channel(target, settings=ONE_ATTEMPT))
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await ask(third)
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            # Those that are open are served on.
            await asyncio.gather(ask(first), ask(second))
        async with asyncio.timeout(30):
            while True:
                try:
                    await ask(third)
                    break
                except grpc.aio.AioRpcError:
                    await asyncio.sleep(0.1)


async def test_a_connection_without_calls_is_closed_and_made_again_for_the_next() -> None:
    settings = ServiceSettings(max_connection_idle_s=0.5, stop_grace_s=0)
    # Of a balancing policy that does not connect again by itself.
    options = (("grpc.service_config", '{"loadBalancingConfig": [{"pick_first": {}}]}'),)
    async with (
        serving(GeneratorServicer(ScriptedGenerator({})), settings) as (_, target),
        grpc.aio.insecure_channel(target, options=options) as channel,
    ):
        await ask(channel)
        async with asyncio.timeout(30):
            while (state := channel.get_state()) is not grpc.ChannelConnectivity.IDLE:
                await channel.wait_for_state_change(state)
        await ask(channel)
