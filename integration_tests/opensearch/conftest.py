"""Fixtures of the tests on a real OpenSearch node: the node, and a retriever on it."""

import os
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from secrets import token_hex

import pytest
from opensearchpy import AsyncOpenSearch

from scaar.core.types import Passage
from scaar.retriever.factory import open_retriever
from scaar.retriever.opensearch.engine import OpenSearchRetriever
from scaar.retriever.settings import RetrieverSettings

from ..servers.opensearch.distribution import make
from ..servers.opensearch.node import CACHE, Node, running_node


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect, and count, the tests that need SCAAR_TEST_DATA when it is unset."""
    if not os.environ.get("SCAAR_TEST_DATA"):
        left_out = [item for item in items if item.get_closest_marker("real_data")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def real_data() -> Path:
    """Folder of the real data sets."""
    return Path(os.environ["SCAAR_TEST_DATA"])


async def stream(passages: Iterable[Passage]) -> AsyncIterator[Passage]:
    for passage in passages:
        yield passage


@pytest.fixture(scope="session")
def home() -> Path:
    """The distribution, which is built on first use."""
    make(CACHE / "plain")
    return CACHE / "plain"


@pytest.fixture(scope="session")
def shared_node(home: Path) -> Iterator[Node]:
    """A node for tests that do not change it."""
    with running_node(home=home) as node:
        yield node


@pytest.fixture
def node(home: Path) -> Iterator[Node]:
    """A node of one test, which may stop it or make it read-only."""
    with running_node(home=home) as node:
        yield node


def settings_for(node: Node, **settings: object) -> RetrieverSettings:
    """Return settings of a retriever on the node, with a prefix of its own."""
    own = {
        "engine": "opensearch",
        "opensearch_urls": (f"http://{node.address}",),
        "opensearch_prefix": f"test-{token_hex(4)}-",
        "opensearch_replicas": 0,
    }
    return RetrieverSettings.model_validate({**own, **settings})


@pytest.fixture
async def raw(shared_node: Node) -> AsyncIterator[AsyncOpenSearch]:
    """A client of the shared node, without scaar."""
    async with AsyncOpenSearch(f"http://{shared_node.address}") as client:
        yield client


@pytest.fixture
async def retriever(shared_node: Node) -> AsyncIterator[OpenSearchRetriever]:
    async with open_retriever(settings_for(shared_node)) as retriever:
        assert isinstance(retriever, OpenSearchRetriever)
        yield retriever


def passages(count: int, *, title: str = "T", first: int = 0) -> list[Passage]:
    """Return different passages, all with the word "volcano"."""
    return [
        Passage(f"p{number:05}", title, f"volcano word{number} {'lava ' * 20}")
        for number in range(first, first + count)
    ]
