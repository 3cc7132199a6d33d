"""The query formulations of the core as a port."""

import asyncio

from scaar.core.queries import FORMULATIONS, build_query
from scaar.core.text import word_classes
from scaar.core.types import Query, QueryRequest


class LocalQueryBuilder:
    """Builds queries in this process, as a pure function of the request."""

    async def build_query(self, request: QueryRequest) -> Query:
        rule = FORMULATIONS.get(request.settings.formulation)
        if rule is not None and rule.uses_word_classes:
            await asyncio.to_thread(word_classes.load)
        return build_query(request)
