"""The generator's port over gRPC."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import grpc

from scaar.core.errors import InvalidRequest, StreamIncomplete
from scaar.core.ports import Generator
from scaar.core.types import (
    AttendRequest,
    Attention,
    GenerateRequest,
    GenerationEvent,
    LogprobsRequest,
    ModelDescription,
    TextLogprobs,
    is_last,
)
from scaar.v1 import generator_pb2 as pb
from scaar.v1 import generator_pb2_grpc as pb_grpc
from scaar.wire.conversion import convert
from scaar.wire.messages.codec import from_pb, request_to_pb, to_pb
from scaar.wire.messages.events import generation_event_from_pb, generation_event_to_pb
from scaar.wire.remote import RemoteService
from scaar.wire.request_limits import ServiceLimits

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["GeneratorService"].full_name


class GeneratorServicer(pb_grpc.GeneratorServiceServicer):
    """Serves any generator."""

    service_name = SERVICE_NAME
    limits = ServiceLimits(pb.DESCRIPTOR.services_by_name["GeneratorService"])

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register the service."""
        pb_grpc.add_GeneratorServiceServicer_to_server(self, server)

    async def check_ready(self) -> None:
        """Raise the error of the generator if the generator cannot be described."""
        await self._generator.describe_model()

    async def Generate(
        self, request: pb.GenerateRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncGenerator[pb.GenerateResponse, None]:
        generation = await convert(request, GenerateRequest)
        async with aclosing(self._generator.generate(generation)) as events:
            async for event in events:
                yield generation_event_to_pb(event)

    async def Attend(
        self, request: pb.AttendRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.AttendResponse:
        attention = await self._generator.attend(await convert(request, AttendRequest))
        return pb.AttendResponse(attention=to_pb(attention, pb.Attention))

    async def ComputeLogprobs(
        self, request: pb.ComputeLogprobsRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.ComputeLogprobsResponse:
        logprobs = await self._generator.compute_logprobs(await convert(request, LogprobsRequest))
        return pb.ComputeLogprobsResponse(logprobs=to_pb(logprobs, pb.TextLogprobs))

    async def ReleaseAnswer(
        self, request: pb.ReleaseAnswerRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.ReleaseAnswerResponse:
        if not request.answer_id:
            raise InvalidRequest.of("answer_id", "must not be empty")
        await self._generator.release_answer(request.answer_id)
        return pb.ReleaseAnswerResponse()

    async def DescribeModel(
        self,
        request: pb.GeneratorServiceDescribeModelRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> pb.GeneratorServiceDescribeModelResponse:
        model = await self._generator.describe_model()
        return pb.GeneratorServiceDescribeModelResponse(model=to_pb(model, pb.ModelDescription))


class RemoteGenerator(RemoteService):
    """A generator behind a channel."""

    _NAME = SERVICE_NAME
    _STUB = pb_grpc.GeneratorServiceStub
    _TIMEOUT_S = 60.0

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the events of the generation.

        Raises:
            StreamIncomplete: the stream ended before its end message.
        """
        message = request_to_pb(request, pb.GenerateRequest)
        async with aclosing(self._stream("Generate", message, generation_event_from_pb)) as events:
            async for event in events:
                if event is None:
                    continue
                yield event
                if is_last(event, request):
                    return
        raise StreamIncomplete(f"{self._endpoint} ended the stream of the generation too early")

    async def attend(self, request: AttendRequest) -> Attention:
        message = request_to_pb(request, pb.AttendRequest)
        return await self._call(
            "Attend", message, lambda found: from_pb(found.attention, Attention)
        )

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        message = request_to_pb(request, pb.ComputeLogprobsRequest)
        return await self._call(
            "ComputeLogprobs", message, lambda found: from_pb(found.logprobs, TextLogprobs)
        )

    async def release_answer(self, answer_id: str) -> None:
        message = pb.ReleaseAnswerRequest(answer_id=answer_id)
        await self._call("ReleaseAnswer", message, lambda _: None)

    async def describe_model(self) -> ModelDescription:
        message = pb.GeneratorServiceDescribeModelRequest()
        return await self._call(
            "DescribeModel", message, lambda found: from_pb(found.model, ModelDescription)
        )
