from collections.abc import AsyncIterator

import pytest

from scaar.core.ports import Retriever
from scaar.testing.conformance.retriever import RetrieverConformance
from scaar.testing.fakes import InMemoryRetriever
from scaar.testing.sockets import TRANSPORTS, retriever_by


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestInMemoryRetriever(RetrieverConformance):
    @pytest.fixture
    async def retriever(self, transport: str) -> AsyncIterator[Retriever]:
        async with retriever_by(transport, InMemoryRetriever()) as retriever:
            yield retriever
