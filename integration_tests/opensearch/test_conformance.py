from collections.abc import AsyncIterator

import pytest

from scaar.core.ports import Retriever
from scaar.retriever.factory import open_retriever
from scaar.testing.conformance.retriever import RetrieverConformance
from scaar.testing.sockets import TRANSPORTS, retriever_by

from ..servers.opensearch.node import Node
from .conftest import settings_for


class TestOpenSearchRetriever(RetrieverConformance):
    keeps_order = False

    @pytest.fixture(params=TRANSPORTS)
    async def retriever(
        self, request: pytest.FixtureRequest, shared_node: Node
    ) -> AsyncIterator[Retriever]:
        async with (
            open_retriever(settings_for(shared_node)) as engine,
            retriever_by(request.param, engine) as retriever,
        ):
            yield retriever
