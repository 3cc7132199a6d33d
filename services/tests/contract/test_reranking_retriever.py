"""The conformance suite of reranking, by a model in the process and by a server."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scaar.core.ports import IndexKeeper, Retriever
from scaar.core.types import Passage
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.testing.conformance.reranking import NAME, WORDS, RerankingConformance
from scaar.testing.rerank_server import RerankServer
from scaar.testing.sockets import TRANSPORTS, retriever_by
from scaar.testing.word_cross_encoder import write_word_cross_encoder
from scaar.testing.word_encoder import write_word_encoder


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    write_word_encoder(folder / "words", WORDS)
    write_word_cross_encoder(folder / NAME, WORDS)
    return folder


async def stream(*passages: Passage) -> AsyncIterator[Passage]:
    for each in passages:
        yield each


@pytest.mark.parametrize("transport", TRANSPORTS)
class TestOnnxReranking(RerankingConformance):
    @pytest.fixture
    async def retriever(  # type: ignore[override]
        self, transport: str, models: Path, tmp_path: Path
    ) -> AsyncIterator[Retriever]:
        settings = RetrieverSettings(
            indexes=tmp_path / "indexes", encoder=models / "words", reranker=models / NAME
        )
        async with (
            open_retriever(settings) as engine,
            retriever_by(transport, engine) as retriever,
        ):
            yield retriever

    async def test_the_description_has_the_revision_of_the_model(
        self, retriever: IndexKeeper, models: Path
    ) -> None:
        built = await retriever.index_passages("geo", stream(Passage("p1", "Etna", "volcano")))
        digest = hashlib.sha256((models / NAME / "model.onnx").read_bytes()).hexdigest()
        assert built.index.reranker_revision
        assert digest.startswith(built.index.reranker_revision)


@pytest.mark.parametrize("transport", TRANSPORTS)
class TestRemoteReranking(RerankingConformance):
    @pytest.fixture
    async def retriever(  # type: ignore[override]
        self, transport: str, models: Path, tmp_path: Path
    ) -> AsyncIterator[Retriever]:
        async with RerankServer() as server:
            settings = RetrieverSettings(
                indexes=tmp_path / "indexes",
                encoder=models / "words",
                rerank_url=server.url,
                rerank_model=NAME,
                rerank_max_batch=2,
            )
            async with (
                open_retriever(settings) as engine,
                retriever_by(transport, engine) as retriever,
            ):
                yield retriever
