"""The conformance suite of the retriever over vector indexes, embedded and over gRPC."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from scaar.core.ports import Retriever
from scaar.core.types import DenseSettings, HnswSettings, VectorMetric
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.testing.conformance.retriever import WORDS, RetrieverConformance
from scaar.testing.dense_indexes import DenseIndexes
from scaar.testing.sockets import TRANSPORTS, retriever_by
from scaar.testing.word_encoder import write_word_encoder

HNSW = HnswSettings(m=8, ef_construction=40, ef_search=2)
GRAPHS = (DenseSettings(hnsw=HNSW), DenseSettings(VectorMetric.L2, HNSW))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_word_encoder(tmp_path_factory.mktemp("models") / "words", WORDS)


class OfVectors(RetrieverConformance):
    by_words = False

    @pytest.fixture
    async def retriever(  # type: ignore[override]
        self, transport: str, search: DenseSettings, encoder: Path, tmp_path: Path
    ) -> AsyncIterator[Retriever]:
        settings = RetrieverSettings(indexes=tmp_path / "indexes", encoder=encoder)
        async with (
            open_retriever(settings) as engine,
            retriever_by(transport, engine) as retriever,
        ):
            yield cast("Retriever", DenseIndexes(retriever, search))


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("search", [DenseSettings(metric) for metric in VectorMetric])
class TestExactRetriever(OfVectors): ...


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("search", GRAPHS)
class TestHnswRetriever(OfVectors):
    is_exact = False
