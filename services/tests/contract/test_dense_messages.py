"""Vector indexes in the contract, over a real socket."""

import grpc
import pytest

from scaar.testing.fakes import InMemoryRetriever
from scaar.testing.sockets import serving
from scaar.v1.retriever_pb2 import DenseSettings, HnswSettings, IndexPassagesRequest
from scaar.wire.retriever import SERVICE_NAME, RetrieverServicer


@pytest.mark.parametrize(
    ("messages", "code", "expected"),
    [
        (
            [IndexPassagesRequest(index="a", dense=DenseSettings(metric=9))],
            grpc.StatusCode.INVALID_ARGUMENT,
            "dense.metric: must be one of ip, l2; 9 is not",
        ),
        (
            [
                IndexPassagesRequest(index="a"),
                IndexPassagesRequest(dense=DenseSettings(hnsw=HnswSettings(m=8))),
            ],
            grpc.StatusCode.INVALID_ARGUMENT,
            "dense: must be that of the first message or unset",
        ),
        (
            [IndexPassagesRequest(index="a", dense=DenseSettings())],
            grpc.StatusCode.FAILED_PRECONDITION,
            "a retriever in memory has no encoder",
        ),
    ],
)
async def test_invalid_options_are_refused(
    messages: list[IndexPassagesRequest], code: grpc.StatusCode, expected: str
) -> None:
    async with serving(RetrieverServicer(InMemoryRetriever())) as (channel, _):
        call = channel.stream_unary(f"/{SERVICE_NAME}/IndexPassages")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(iter([message.SerializeToString() for message in messages]))
    assert caught.value.code() is code
    assert caught.value.details() == expected
