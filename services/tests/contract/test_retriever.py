from collections.abc import AsyncIterator, Generator
from types import SimpleNamespace

import grpc
import pytest

from scaar.core.errors import BackendUnavailable, DataCorrupt, InvalidRequest, NotFound
from scaar.core.ports import Retriever
from scaar.core.types import Passage, PassageInContext, PassageRequest, RetrieveRequest
from scaar.testing.conformance.retriever import RetrieverConformance
from scaar.testing.fakes import InMemoryRetriever
from scaar.testing.sockets import TRANSPORTS, retriever_by, serving
from scaar.v1.retriever_pb2 import IndexPassagesRequest
from scaar.wire.retriever import SERVICE_NAME, RemoteRetriever, RetrieverServicer


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestInMemoryRetriever(RetrieverConformance):
    @pytest.fixture
    async def retriever(self, transport: str) -> AsyncIterator[Retriever]:
        async with retriever_by(transport, InMemoryRetriever()) as retriever:
            yield retriever


@pytest.mark.parametrize("before", [0, 1])
async def test_a_stream_with_an_invalid_message_is_refused(before: int) -> None:
    good = IndexPassagesRequest(index="a").SerializeToString()
    async with serving(RetrieverServicer(InMemoryRetriever())) as (channel, _):
        call = channel.stream_unary(f"/{SERVICE_NAME}/IndexPassages")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(iter([good] * before + [b"\xff"]))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details() == "request: is not a message of the contract"


async def test_an_unknown_mode_and_one_that_changes_are_refused() -> None:
    first, other = IndexPassagesRequest(index="a", mode=2), IndexPassagesRequest(mode=3)
    unknown = IndexPassagesRequest(index="a", mode=9)
    async with serving(RetrieverServicer(InMemoryRetriever())) as (channel, _):
        call = channel.stream_unary(f"/{SERVICE_NAME}/IndexPassages")
        for sent, reported in (
            ([first, other], "mode: must be 2 or unspecified after the first message, not 3"),
            ([unknown], "mode: must be one of create, replace, upsert; 9 is not"),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call(iter([message.SerializeToString() for message in sent]))
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert caught.value.details() == reported


async def test_declared_fields_that_change_are_refused() -> None:
    first = IndexPassagesRequest(index="a", metadata_fields=["lang"])
    other = IndexPassagesRequest(metadata_fields=["lang", "tenant"])
    async with serving(RetrieverServicer(InMemoryRetriever())) as (channel, _):
        call = channel.stream_unary(f"/{SERVICE_NAME}/IndexPassages")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(iter([message.SerializeToString() for message in (first, other)]))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details() == (
        "metadata_fields: must be those of the first message or empty"
    )


async def test_more_passages_than_fit_a_message_are_refused() -> None:
    long = [Passage(f"p{number:02}", "", "hay " * 250_000) for number in range(17)]
    async with retriever_by("grpc", InMemoryRetriever({"a": long})) as retriever:
        found = await retriever.retrieve(RetrieveRequest(("hay",), 16, "a"))
        assert len(found.results[0]) == 16
        with pytest.raises(InvalidRequest, match="top_k: the response has 17,000,"):
            await retriever.retrieve(RetrieveRequest(("hay",), 17, "a"))


class LostCall:
    """A call that was over when the first message was sent; gRPC has lost why."""

    def __init__(self, timeout: float) -> None:
        nothing = grpc.aio.Metadata()
        self.lost = grpc.aio.AioRpcError(grpc.StatusCode.INTERNAL, nothing, nothing)

    async def write(self, message: IndexPassagesRequest) -> None:
        raise self.lost

    def __await__(self) -> Generator[None, None, None]:
        yield
        raise self.lost

    def cancel(self) -> None: ...


async def test_a_call_whose_status_is_lost_may_be_retried() -> None:
    async def none() -> AsyncIterator[Passage]:
        return
        yield

    async with grpc.aio.insecure_channel("127.0.0.1:1") as channel:
        retriever = RemoteRetriever(channel, "h:1")
        retriever._stub = SimpleNamespace(IndexPassages=LostCall)
        with pytest.raises(BackendUnavailable, match="while passages were being sent"):
            await retriever.index_passages("a", none())


async def test_a_missing_passage_leaves_its_index_ready_and_damage_does_not() -> None:
    class Damaged(InMemoryRetriever):
        async def get_passage(self, request: PassageRequest) -> PassageInContext:
            if request.id == "damaged":
                raise DataCorrupt("the index 'a' is damaged")
            return await super().get_passage(request)

    servicer = RetrieverServicer(Damaged({"a": [Passage("p1", "", "hay")]}), whole={"a": True})
    states = list[bool]()
    servicer.report_readiness(lambda name, ready: states.append(ready))
    async with serving(servicer) as (channel, target):
        retriever = RemoteRetriever(channel, target)
        for name, error in (("absent", NotFound), ("damaged", DataCorrupt)):
            with pytest.raises(error):
                await retriever.get_passage(PassageRequest("a", name))
        assert (await retriever.get_passage(PassageRequest("a", "p1"))).passage.id == "p1"
    assert states == [True, False, True]
