"""From settings to a query builder."""

from typing import assert_never

from scaar.core.ports import QueryBuilder
from scaar.query_builder.settings import QueryBuilderSettings


def build_query_builder(settings: QueryBuilderSettings) -> QueryBuilder:
    """The query builder that the settings name; it holds nothing that needs closing."""
    match settings.engine:
        case "local":
            from scaar.query_builder.local import LocalQueryBuilder

            return LocalQueryBuilder()
        case _:
            assert_never(settings.engine)
