"""What goes with a call from service to service, over real sockets."""

from contextlib import aclosing
from typing import Any

import grpc
import pytest

from scaar.core.call_context import CallContext, current_call, in_call
from scaar.core.types import GenerateRequest
from scaar.runtime.carrying import carried
from scaar.testing.fakes import ScriptedGenerator
from scaar.testing.sockets import serving
from scaar.wire.generator import GeneratorServicer, RemoteGenerator

TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE}-b7ad6b7169203331-01"
SENT = (("x-request-id", "r-1"), ("traceparent", TRACEPARENT))


class Asked(GeneratorServicer):
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__(ScriptedGenerator({"a": [(" x", -0.1)]}))
        self.calls: list[tuple[CallContext | None, tuple[tuple[str, str], ...]]] = []

    async def DescribeModel(  # noqa: N802
        self, request: Any, context: grpc.aio.ServicerContext[Any, Any]
    ) -> Any:
        self.calls.append((current_call(), carried()))
        return await super().DescribeModel(request, context)

    async def Generate(  # noqa: N802
        self, request: Any, context: grpc.aio.ServicerContext[Any, Any]
    ) -> Any:
        self.calls.append((current_call(), carried()))
        async with aclosing(super().Generate(request, context)) as events:
            async for event in events:
                yield event


async def test_a_call_carries_on_what_the_call_brought_that_it_is_made_for() -> None:
    asked = Asked()
    async with serving(asked) as (channel, target):
        generator = RemoteGenerator(channel, target)
        with in_call(CallContext("r-1", TRACEPARENT)):
            await generator.describe_model()
            assert [each async for each in generator.generate(GenerateRequest("a"))]
        await generator.describe_model()
    both = CallContext("r-1", TRACEPARENT), SENT
    assert asked.calls == [both, both, (CallContext(), ())]


async def test_what_a_caller_sends_itself_goes_before_what_is_carried() -> None:
    asked = Asked()
    async with serving(asked) as (channel, _):
        method = channel.unary_unary("/scaar.v1.GeneratorService/DescribeModel")
        with in_call(CallContext("r-1", TRACEPARENT)):
            await method(b"", metadata=(("x-request-id", "r-2"),))
    assert asked.calls[0][0] == CallContext("r-2", TRACEPARENT)


@pytest.mark.parametrize("sent", ["", "00-xyz", f"ff-{TRACE}-b7ad6b7169203331-01"])
async def test_a_traceparent_that_is_none_is_not_carried_on(sent: str) -> None:
    asked = Asked()
    async with serving(asked) as (channel, _):
        method = channel.unary_unary("/scaar.v1.GeneratorService/DescribeModel")
        await method(b"", metadata=(("traceparent", sent),))
    assert asked.calls == [(CallContext(), ())]
