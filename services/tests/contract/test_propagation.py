"""What goes with a call from service to service, over real sockets."""

from contextlib import aclosing
from typing import Any

import grpc
import pytest

from scaar.core.calls.context import CallContext, current_call, in_call
from scaar.core.types import GenerateRequest
from scaar.runtime.call_metadata import propagated_metadata
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
        self.calls.append((current_call(), propagated_metadata()))
        return await super().DescribeModel(request, context)

    async def Generate(  # noqa: N802
        self, request: Any, context: grpc.aio.ServicerContext[Any, Any]
    ) -> Any:
        self.calls.append((current_call(), propagated_metadata()))
        async with aclosing(super().Generate(request, context)) as events:
            async for event in events:
                yield event


async def test_a_call_propagates_the_context_of_the_current_call() -> None:
    requested = Asked()
    async with serving(requested) as (channel, target):
        generator = RemoteGenerator(channel, target)
        with in_call(CallContext("r-1", TRACEPARENT)):
            await generator.describe_model()
            assert [each async for each in generator.generate(GenerateRequest("a"))]
        await generator.describe_model()
    both = CallContext("r-1", TRACEPARENT), SENT
    assert requested.calls == [both, both, (CallContext(), ())]


async def test_explicit_metadata_overrides_propagated_metadata() -> None:
    requested = Asked()
    async with serving(requested) as (channel, _):
        method = channel.unary_unary("/scaar.v1.GeneratorService/DescribeModel")
        with in_call(CallContext("r-1", TRACEPARENT)):
            await method(b"", metadata=(("x-request-id", "r-2"),))
    assert requested.calls[0][0] == CallContext("r-2", TRACEPARENT)


@pytest.mark.parametrize("sent", ["", "00-xyz", f"ff-{TRACE}-b7ad6b7169203331-01"])
async def test_an_invalid_traceparent_is_not_propagated(sent: str) -> None:
    requested = Asked()
    async with serving(requested) as (channel, _):
        method = channel.unary_unary("/scaar.v1.GeneratorService/DescribeModel")
        await method(b"", metadata=(("traceparent", sent),))
    assert requested.calls == [(CallContext(), ())]
