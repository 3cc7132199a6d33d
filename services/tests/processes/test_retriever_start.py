"""A retriever that starts on a damaged folder says so, and serves the indexes that are whole."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.core.errors import DataCorrupt
from scaar.core.types import IndexMode, Passage, RetrieveRequest
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.runtime.channels import open_channel
from scaar.testing.processes import running_service
from scaar.wire.retriever import SERVICE_NAME, RemoteRetriever

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def passages() -> AsyncIterator[Passage]:
    yield Passage("p1", "Etna", "Etna is a volcano.")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder: ``good`` is whole, a file of ``bad`` was altered, one of ``lab`` is cut."""

    async def build() -> None:
        settings = RetrieverSettings(indexes=tmp_path / "home" / "indexes")
        async with open_retriever(settings) as retriever:
            for name in ("bad", "good", "lab"):
                await retriever.index_passages(name, passages())

    asyncio.run(build())
    (altered,) = (tmp_path / "home" / "indexes" / "bad").glob("*/passages.jsonl")
    altered.write_bytes(altered.read_bytes().replace(b"Etna", b"Etma"))
    (cut,) = (tmp_path / "home" / "indexes" / "lab").glob("*/offsets.npy")
    cut.write_bytes(cut.read_bytes()[:-1])
    return tmp_path / "home"


async def status_of(channel: grpc.aio.Channel, index: str = "") -> int:
    name = f"{SERVICE_NAME}/{index}" if index else SERVICE_NAME
    request = health_pb2.HealthCheckRequest(service=name)
    return int((await health_pb2_grpc.HealthStub(channel).Check(request)).status)


async def until_not_serving(channel: grpc.aio.Channel, index: str) -> None:
    request = health_pb2.HealthCheckRequest(service=f"{SERVICE_NAME}/{index}")
    async with asyncio.timeout(30):
        async for reported in health_pb2_grpc.HealthStub(channel).Watch(request):
            if reported.status == NOT_SERVING:
                return


def found_in(index: str) -> RetrieveRequest:
    return RetrieveRequest(("volcano",), 1, index)


async def test_a_damaged_index_is_reported_at_the_start_and_the_others_are_served(
    home: Path,
) -> None:
    with running_service("retriever", home) as service:
        target = service.target
        async with open_channel(target) as channel:
            retriever = RemoteRetriever(channel, target)
            # Its size is right: it is served until the checksums are compared, in the background.
            await until_not_serving(channel, "bad")
            states = [await status_of(channel, index) for index in ("", "good", "bad", "lab")]
            assert states == [SERVING, SERVING, NOT_SERVING, NOT_SERVING]
            assert len((await retriever.retrieve(found_in("good"))).results[0]) == 1
            for index in ("bad", "lab"):
                with pytest.raises(DataCorrupt, match=f"'{index}' is damaged") as caught:
                    await retriever.retrieve(found_in(index))
                assert caught.value.metadata["index"] == index
    lines = service.output_lines()
    assert len(lines) == 3
    (reported,) = [line for line in lines if "'bad'" in line]
    assert ": the index 'bad' is damaged: passages.jsonl was altered; rebuild it" in reported
    assert reported.endswith("drop it: scaar index drop bad")
    assert ": the index 'lab' is damaged: offsets.npy has " in lines[0]
    assert any(line.startswith("retriever serving on ") for line in lines)
    assert service.process.returncode == 0


async def test_a_damaged_index_that_is_replaced_is_ready_and_one_dropped_is_not(
    home: Path,
) -> None:
    with running_service("retriever", home) as service:
        async with open_channel(service.target) as channel:
            retriever = RemoteRetriever(channel, service.target)
            with pytest.raises(DataCorrupt, match="'bad' is damaged"):
                await retriever.index_passages("bad", passages(), mode=IndexMode.UPSERT)
            await retriever.index_passages("bad", passages(), mode=IndexMode.REPLACE)
            assert len((await retriever.retrieve(found_in("bad"))).results[0]) == 1
            await retriever.drop_index("good")
            states = [await status_of(channel, index) for index in ("bad", "good", "lab")]
            assert states == [SERVING, NOT_SERVING, NOT_SERVING]
