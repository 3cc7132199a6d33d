"""A server with Triton's protocol on a real socket, which fails as a test specifies.

What Triton itself does is held by the integration tests; here are its faults.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import grpc
import numpy as np
from tritonclient.grpc import model_config_pb2, service_pb2, service_pb2_grpc

from scaar.encoders.tensor_names import INPUTS


class TritonStandIn(service_pb2_grpc.GRPCInferenceServiceServicer):
    """Runs the session of a cross-encoder. ``failure`` is a status to return instead.

    ``gate`` delays answers; ``widths``, ``pairs`` and ``max_in_flight`` describe the requests.
    """

    def __init__(self, session):
        self.session = session
        self.revision = "1"
        self.ready = True
        self.max_batch_size = 16
        self.failure = None
        self.change = lambda logits: logits
        self.gate = asyncio.Event()
        self.gate.set()
        self.widths, self.pairs = [], []
        self.under_way = self.max_in_flight = self.cancelled = self.looks = 0

    async def ModelMetadata(self, request, context):  # noqa: N802
        self.looks += 1
        if request.name != "contribution_scorer":
            await context.abort(grpc.StatusCode.NOT_FOUND, "Request for unknown model")
        answer = service_pb2.ModelMetadataResponse(name=request.name, versions=["1"])
        for name in INPUTS:
            answer.inputs.add(name=name, datatype="INT64", shape=[-1, -1])
        answer.outputs.add(name="logits", datatype="FP32", shape=[-1, 1])
        return answer

    async def ModelConfig(self, request, context):  # noqa: N802
        config = model_config_pb2.ModelConfig(max_batch_size=self.max_batch_size)
        config.parameters["revision"].string_value = self.revision
        return service_pb2.ModelConfigResponse(config=config)

    async def ModelReady(self, request, context):  # noqa: N802
        return service_pb2.ModelReadyResponse(ready=self.ready)

    async def ModelInfer(self, request, context):  # noqa: N802
        shape = tuple(request.inputs[0].shape)
        self.pairs.append(shape[0])
        self.widths.append(shape[1])
        self.under_way += 1
        self.max_in_flight = max(self.max_in_flight, self.under_way)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.under_way -= 1
        if self.failure:
            await context.abort(*self.failure)
        given = {
            each.name: np.frombuffer(raw, np.int64).reshape(shape)
            for each, raw in zip(request.inputs, request.raw_input_contents, strict=True)
        }
        logits = self.change(self.session.run(["logits"], given)[0]).astype(np.float32)
        answer = service_pb2.ModelInferResponse(model_name=request.model_name)
        answer.outputs.add(name="logits", datatype="FP32", shape=logits.shape)
        answer.raw_output_contents.append(logits.tobytes())
        return answer


@asynccontextmanager
async def standing_in(session, credentials=None) -> AsyncIterator[tuple[TritonStandIn, str]]:
    """Run the server on a free loopback port, with TLS for credentials. Yield its address."""
    stand_in = TritonStandIn(session)
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(stand_in, server)
    address = "127.0.0.1:0"
    port = (
        server.add_secure_port(address, credentials)
        if credentials
        else server.add_insecure_port(address)
    )
    await server.start()
    try:
        yield stand_in, f"127.0.0.1:{port}"
    finally:
        with suppress(asyncio.CancelledError):
            await server.stop(None)
