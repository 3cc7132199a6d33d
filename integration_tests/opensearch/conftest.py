"""What the tests on a real OpenSearch node share: the node, and a retriever on it."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from secrets import token_hex

import pytest

from scaar.core.types import Passage
from scaar.retriever.factory import open_retriever
from scaar.retriever.opensearch_engine import OpenSearchRetriever
from scaar.retriever.settings import RetrieverSettings

from ..servers.opensearch.distribution import make
from ..servers.opensearch.node import CACHE, Node, running_node

OpenEngine = Callable[..., AbstractAsyncContextManager[OpenSearchRetriever]]


async def stream(passages: Iterable[Passage]) -> AsyncIterator[Passage]:
    for passage in passages:
        yield passage


@pytest.fixture(scope="session")
def home() -> Path:
    """The distribution, made the first time."""
    make(CACHE / "plain")
    return CACHE / "plain"


@pytest.fixture(scope="session")
def shared_node(home: Path) -> Iterator[Node]:
    """A node for the tests that leave it as it is."""
    with running_node(home=home) as node:
        yield node


@pytest.fixture
def node(home: Path) -> Iterator[Node]:
    """A node of the test's own, to be ended or made read-only."""
    with running_node(home=home) as node:
        yield node


def settings_for(node: Node, **settings: object) -> RetrieverSettings:
    """Settings of a retriever on the node, whose indexes are nobody else's."""
    own = {
        "engine": "opensearch",
        "opensearch_urls": (f"http://{node.address}",),
        "opensearch_prefix": f"test-{token_hex(4)}-",
        "opensearch_replicas": 0,
    }
    return RetrieverSettings.model_validate({**own, **settings})


@pytest.fixture
async def retriever(shared_node: Node) -> AsyncIterator[OpenSearchRetriever]:
    async with open_retriever(settings_for(shared_node)) as retriever:
        assert isinstance(retriever, OpenSearchRetriever)
        yield retriever
