"""The conformance suites over indexes of words and vectors, embedded and over gRPC."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from scaar.core.ports import Retriever
from scaar.core.types import DenseSettings, RetrieveRequest, RetrieveResult, SearchMode
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.testing.conformance import hybrid
from scaar.testing.conformance.hybrid import BOTH, HybridConformance
from scaar.testing.conformance.retriever import WORDS, RetrieverConformance
from scaar.testing.dense_indexes import DenseIndexes
from scaar.testing.sockets import TRANSPORTS, retriever_by
from scaar.testing.word_encoder import write_word_encoder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = (*WORDS, *hybrid.WORDS)
    return write_word_encoder(tmp_path_factory.mktemp("models") / "words", texts)


class OneMode:
    """Searches indexes of words and vectors in one mode, unless a request names another."""

    def __init__(self, retriever: Retriever, mode: SearchMode, settings: DenseSettings) -> None:
        self._indexes = DenseIndexes(cast("Any", retriever), settings)
        self._mode = mode

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        found: RetrieveResult = await self._indexes.retrieve(replace(request, mode=self._mode))
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._indexes, name)


class InOneMode(RetrieverConformance):
    mode = SearchMode.WORDS

    @pytest.fixture
    async def retriever(  # type: ignore[override]
        self, transport: str, encoder: Path, tmp_path: Path
    ) -> AsyncIterator[Retriever]:
        settings = RetrieverSettings(indexes=tmp_path / "indexes", encoder=encoder)
        async with (
            open_retriever(settings) as engine,
            retriever_by(transport, engine) as retriever,
        ):
            yield cast("Retriever", OneMode(retriever, self.mode, BOTH))


@pytest.mark.parametrize("transport", TRANSPORTS)
class TestWordsOfBoth(InOneMode): ...


@pytest.mark.parametrize("transport", TRANSPORTS)
class TestVectorsOfBoth(InOneMode):
    mode, by_words = SearchMode.VECTORS, False


@pytest.mark.parametrize("transport", TRANSPORTS)
class TestHybridRetriever(HybridConformance):
    @pytest.fixture
    async def retriever(  # type: ignore[override]
        self, transport: str, encoder: Path, tmp_path: Path
    ) -> AsyncIterator[Retriever]:
        settings = RetrieverSettings(indexes=tmp_path / "indexes", encoder=encoder)
        async with (
            open_retriever(settings) as engine,
            retriever_by(transport, engine) as retriever,
        ):
            yield retriever
