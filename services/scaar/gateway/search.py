"""``/retrieve``: passages for many queries, in the form of Search-R1's retrieval server.

Source: https://github.com/PeterGriffinJin/Search-R1, search_r1/search/retrieval_server.py; verl and
SkyRL use the same form.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from scaar.client.requests import filter_choices
from scaar.core.types import RetrievedPassage, SearchRequest
from scaar.gateway.options import Options, Values
from scaar.gateway.orchestrator import Caller

MAX_QUERIES = 256
_CONCURRENT = 8


class RetrieveRequest(Options):
    """Queries for the passages of one index."""

    queries: list[str] = Field(min_length=1, max_length=MAX_QUERIES)
    topk: int = Field(default=3, ge=1, le=100)
    return_scores: bool = False
    index: str | None = Field(default=None, description="Index; default: that of the gateway.")
    filters: Mapping[str, Values] = Field(
        default_factory=dict, description="Values that passages must have, by metadata field."
    )


async def retrieve(
    caller: Caller, request: RetrieveRequest, *, default_index: str
) -> dict[str, Any]:
    """Return the passages for each query, best first; an error of one query is that of all."""
    index = request.index or default_index
    slots = asyncio.Semaphore(_CONCURRENT)

    async def found(query: str) -> list[Any]:
        async with slots:
            search = SearchRequest(query, index, request.topk, filter_choices(request.filters))
            result = await caller.catalog.search(search)
        documents = [_document(each) for each in result.passages]
        if not request.return_scores:
            return documents
        return [
            {"document": document, "score": passage.score}
            for document, passage in zip(documents, result.passages, strict=True)
        ]

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(found(each)) for each in request.queries]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return {"result": [each.result() for each in tasks]}


def _document(passage: RetrievedPassage) -> dict[str, str]:
    title = " ".join(passage.title.split())
    return {"id": passage.id, "contents": f'"{title}"\n{passage.text}'}
