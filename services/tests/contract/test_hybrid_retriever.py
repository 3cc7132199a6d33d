"""The conformance suites over indexes of words and vectors, embedded and over gRPC."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from scaar.core.ports import Retriever
from scaar.core.types import SearchMode
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.testing.conformance import hybrid
from scaar.testing.conformance.hybrid import BOTH, HybridConformance
from scaar.testing.conformance.retriever import WORDS, RetrieverConformance
from scaar.testing.dense_indexes import OneMode
from scaar.testing.sockets import TRANSPORTS, retriever_by
from scaar.testing.word_encoder import write_word_encoder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = (*WORDS, *hybrid.WORDS)
    return write_word_encoder(tmp_path_factory.mktemp("models") / "words", texts)


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
