"""Fixtures of the retriever's tests."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from scaar.core.types import Passage
from scaar.retriever.factory import open_retriever
from scaar.retriever.local.engine import Bm25sRetriever
from scaar.retriever.settings import RetrieverSettings

PASSAGES = (
    Passage("p-2", "Mount Fuji", "Mount Fuji is a volcano in Japan."),
    Passage("p-1", "Etna", "Etna is a volcano in Italy."),
    Passage("p-3", "", "The Danube is a river. It flows through Vienna."),
)


async def stream(passages: Iterable[Passage]) -> AsyncIterator[Passage]:
    for passage in passages:
        yield passage


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "indexes"


@pytest.fixture
def open_engine(root: Path) -> Callable[..., AbstractAsyncContextManager[Bm25sRetriever]]:
    def opened(**settings: object) -> AbstractAsyncContextManager[Bm25sRetriever]:
        return open_retriever(RetrieverSettings.read(indexes=root, **settings))

    return opened


@pytest.fixture
async def retriever(
    open_engine: Callable[..., AbstractAsyncContextManager[Bm25sRetriever]],
) -> AsyncIterator[Bm25sRetriever]:
    async with open_engine() as engine:
        yield engine
