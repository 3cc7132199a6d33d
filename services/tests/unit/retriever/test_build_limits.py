"""Limits on the input of a build, from a file and from an upload."""

import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import grpc
import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.types import IndexMode, Passage
from scaar.retriever.build_limits import BuildLimits
from scaar.retriever.corpus.corpus import CorpusFile
from scaar.retriever.local.engine import Bm25sRetriever
from scaar.testing.commands import run_scaar
from scaar.testing.sockets import serving
from scaar.v1 import retriever_pb2 as pb
from scaar.v1 import retriever_pb2_grpc as pb_grpc
from scaar.wire.retriever import RetrieverServicer
from scaar.wire.status import error_of

from .conftest import PASSAGES, stream

OpenEngine = Callable[..., AbstractAsyncContextManager[Bm25sRetriever]]
LINES = b"".join(b'{"id": "%d", "text": "volcano"}\n' % number for number in range(5))


def test_many_compressed_blank_lines_end_the_build_early(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl.gz"
    # Members of gzip go one after the other: 100 million lines in 100 KB.
    path.write_bytes(gzip.compress(b"\n" * 1_000_000) * 100)
    assert path.stat().st_size < 200_000
    corpus = CorpusFile(path)
    with pytest.raises(InvalidRequest, match="may have 1,000,000 blank lines") as caught:
        list(corpus)
    assert caught.value.violations[0].field == "c.jsonl.gz line 1000001"
    assert corpus.read_bytes < path.stat().st_size / 2


@pytest.mark.parametrize(
    ("limits", "reported"),
    [
        (BuildLimits(passages=4), "at most 4 passages .* SCAAR_RETRIEVER_BUILD_MAX_PASSAGES"),
        (BuildLimits(gigabytes=100e-9), "at most 1e-07 GB .* SCAAR_RETRIEVER_BUILD_MAX_GB"),
    ],
)
def test_a_file_is_validated_against_the_limits(
    tmp_path: Path, limits: BuildLimits, reported: str
) -> None:
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(gzip.compress(LINES))
    reported = reported.replace(" .* ", r" in one build.*\(")
    with pytest.raises(InvalidRequest, match=reported):
        list(CorpusFile(path, limits=limits))
    assert len(list(CorpusFile(path, limits=BuildLimits(5, len(LINES) / 1e9)))) == 5


def test_the_command_validates_a_file_against_the_limits_in_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "c.jsonl").write_bytes(LINES)
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SCAAR_RETRIEVER_BUILD_MAX_PASSAGES", "4")
    ran = run_scaar("index", "build", "geo", "--corpus", str(tmp_path / "c.jsonl"))
    assert (ran.status, ran.out) == (2, "")
    assert "SCAAR_RETRIEVER_BUILD_MAX_PASSAGES" in ran.err


@pytest.mark.parametrize("mode", list(IndexMode))
async def test_an_upload_over_a_limit_leaves_nothing(
    open_engine: OpenEngine, root: Path, mode: IndexMode
) -> None:
    for name, limit in (("passages", 2), ("gb", 80e-9)):
        async with open_engine(**{f"build_max_{name}": limit}) as retriever:
            with pytest.raises(InvalidRequest, match=f"BUILD_MAX_{name.upper()}") as caught:
                await retriever.index_passages("geo", stream(PASSAGES), mode=mode)
            assert caught.value.violations[0].field == "passages"
            assert [each.name for each in root.iterdir()] == [".lock"]


async def test_an_upload_stops_at_its_limit_and_reads_no_further(open_engine: OpenEngine) -> None:
    sent = 0

    async def passages() -> AsyncIterator[Passage]:
        nonlocal sent
        while True:
            sent += 1
            yield Passage(str(sent), "", "volcano")

    async with open_engine(build_max_passages=1_000) as retriever:
        with pytest.raises(InvalidRequest, match="at most 1,000 passages"):
            await retriever.index_passages("geo", passages())
    assert sent == 1_001


async def test_an_upload_of_messages_without_passages_ends(open_engine: OpenEngine) -> None:
    async def messages() -> AsyncIterator[pb.IndexPassagesRequest]:
        yield pb.IndexPassagesRequest(index="geo", mode=pb.INDEX_MODE_CREATE)
        while True:
            yield pb.IndexPassagesRequest()

    async with (
        open_engine() as retriever,
        serving(RetrieverServicer(retriever)) as (channel, target),
    ):
        call = pb_grpc.RetrieverServiceStub(channel).IndexPassages(messages(), timeout=30)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call
        error = error_of(caught.value, target)
        assert isinstance(error, InvalidRequest)
        assert "at most 1,000 messages may have none" in error.message
