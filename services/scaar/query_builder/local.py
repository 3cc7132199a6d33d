"""The core's query formulations behind their port."""

from scaar.core.queries import build_query
from scaar.core.types import Query, QueryRequest


class LocalQueryBuilder:
    """Builds queries in the process; pure."""

    async def build_query(self, request: QueryRequest) -> Query:
        return build_query(request)
