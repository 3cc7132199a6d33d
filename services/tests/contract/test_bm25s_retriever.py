"""The conformance suite of the retriever over bm25s, embedded and over gRPC."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scaar.core.ports import Retriever
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.testing.conformance.retriever import RetrieverConformance
from scaar.testing.sockets import TRANSPORTS, retriever_by


@pytest.mark.parametrize("transport", TRANSPORTS)
class TestBm25sRetriever(RetrieverConformance):
    @pytest.fixture
    async def retriever(self, transport: str, tmp_path: Path) -> AsyncIterator[Retriever]:  # type: ignore[override]
        async with (
            open_retriever(RetrieverSettings(indexes=tmp_path / "indexes")) as engine,
            retriever_by(transport, engine) as retriever,
        ):
            yield retriever
