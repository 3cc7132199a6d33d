"""Opens the query builder of the settings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import assert_never

from scaar.core.ports import QueryBuilder
from scaar.query_builder.settings import QueryBuilderSettings


@asynccontextmanager
async def open_query_builder(
    settings: QueryBuilderSettings | None = None,
) -> AsyncIterator[QueryBuilder]:
    """Open the query builder of the settings."""
    settings = settings or QueryBuilderSettings.read()
    match settings.engine:
        case "local":
            from scaar.query_builder.local import LocalQueryBuilder

            yield LocalQueryBuilder()
        case _:
            assert_never(settings.engine)
