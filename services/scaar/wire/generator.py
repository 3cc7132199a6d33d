"""The generator's port over gRPC."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import grpc

from scaar.core.errors import StreamIncomplete
from scaar.core.ports import Generator
from scaar.core.types import (
    AttendRequest,
    Attention,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    ModelDescription,
)
from scaar.v1 import generator_pb2 as pb
from scaar.v1 import generator_pb2_grpc as pb_grpc
from scaar.wire.calls import answered, streamed, timeout_within
from scaar.wire.conversion import converted
from scaar.wire.messages.generation import (
    attend_request_from_pb,
    attend_request_to_pb,
    attention_from_pb,
    attention_to_pb,
    generate_request_from_pb,
    generate_request_to_pb,
    generation_event_from_pb,
    generation_event_to_pb,
    model_from_pb,
    model_to_pb,
)
from scaar.wire.request_limits import ServiceLimits

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["GeneratorService"].full_name


class GeneratorServicer(pb_grpc.GeneratorServiceServicer):
    """Serves any generator."""

    service_name = SERVICE_NAME
    limits = ServiceLimits(pb.DESCRIPTOR.services_by_name["GeneratorService"])

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    def add_to(self, server: grpc.aio.Server) -> None:
        """Registers the service."""
        pb_grpc.add_GeneratorServiceServicer_to_server(self, server)

    async def check_ready(self) -> None:
        """Raises what a call would, while the generator cannot even say what it is."""
        await self._generator.describe_model()

    async def Generate(
        self, request: pb.GenerateRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncGenerator[pb.GenerateResponse, None]:
        generation = await converted(request, generate_request_from_pb)
        async with aclosing(self._generator.generate(generation)) as events:
            async for event in events:
                yield generation_event_to_pb(event)

    async def Attend(
        self, request: pb.AttendRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.AttendResponse:
        attention = await self._generator.attend(await converted(request, attend_request_from_pb))
        return pb.AttendResponse(attention=attention_to_pb(attention))

    async def DescribeModel(
        self,
        request: pb.GeneratorServiceDescribeModelRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> pb.GeneratorServiceDescribeModelResponse:
        model = await self._generator.describe_model()
        return pb.GeneratorServiceDescribeModelResponse(model=model_to_pb(model))


class RemoteGenerator:
    """A generator behind a channel; ``timeout_s`` bounds each call."""

    def __init__(self, channel: grpc.aio.Channel, target: str, *, timeout_s: float = 60.0) -> None:
        self._stub = pb_grpc.GeneratorServiceStub(channel)
        self._target = target
        self._timeout_s = timeout_s

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """The events of the generation.

        Raises:
            StreamIncomplete: the stream ended before its end message.
        """
        call = self._stub.Generate(generate_request_to_pb(request), timeout=self._timeout())
        async with aclosing(streamed(call, generation_event_from_pb, self._target)) as events:
            async for event in events:
                if event is not None:
                    yield event
                if isinstance(event, GenerationEnd):
                    return
        raise StreamIncomplete(f"{self._target} ended the generation before its end")

    async def attend(self, request: AttendRequest) -> Attention:
        call = self._stub.Attend(attend_request_to_pb(request), timeout=self._timeout())
        return await answered(call, lambda found: attention_from_pb(found.attention), self._target)

    async def describe_model(self) -> ModelDescription:
        request = pb.GeneratorServiceDescribeModelRequest()
        call = self._stub.DescribeModel(request, timeout=self._timeout())
        return await answered(call, lambda found: model_from_pb(found.model), self._target)

    def _timeout(self) -> float:
        return timeout_within(self._timeout_s, self._target)
