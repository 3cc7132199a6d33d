from collections.abc import AsyncIterator

import pytest

from scaar.core.ports import QueryBuilder
from scaar.query_builder.factory import open_query_builder
from scaar.testing.conformance.query_builder import QueryBuilderConformance
from scaar.testing.sockets import TRANSPORTS, query_builder_by


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestLocalQueryBuilder(QueryBuilderConformance):
    @pytest.fixture
    async def query_builder(self, transport: str) -> AsyncIterator[QueryBuilder]:
        async with (
            open_query_builder() as local,
            query_builder_by(transport, local) as query_builder,
        ):
            yield query_builder
