"""``/retrieve``: passages for many queries, in the form of Search-R1's retrieval server.

Source: https://github.com/PeterGriffinJin/Search-R1, search_r1/search/retrieval_server.py; verl and
SkyRL use the same form.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import Field

from scaar.client.requests import filter_choices
from scaar.core.types import RerankSettings, RetrievedPassage, SearchMode, SearchRequest
from scaar.gateway.options import Options, Values
from scaar.gateway.orchestrator import Caller

MAX_QUERIES = 256
MODE = "How the index is searched: as it was built, by words, by vectors, or by both (hybrid)."
RERANK = "Order the best passages by the retriever's cross-encoder."
_CONCURRENT = 8


class RetrieveRequest(Options):
    """Queries for the passages of one index."""

    queries: list[str] = Field(min_length=1, max_length=MAX_QUERIES)
    topk: int = Field(default=3, ge=1, le=100)
    return_scores: bool = False
    index: str | None = Field(
        default=None, description="Index; default: that of the gateway, else of the orchestrator."
    )
    filters: Mapping[str, Values] = Field(
        default_factory=dict, description="Values that passages must have, by metadata field."
    )
    mode: SearchMode = Field(default=SearchMode.INDEX, description=MODE)
    rerank: bool = Field(default=False, description=RERANK)


def rerank_settings(rerank: bool) -> RerankSettings | None:
    """Return the settings of reranking, if passages are reranked."""
    return RerankSettings() if rerank else None


def score_parts_of(passage: RetrievedPassage) -> dict[str, Any]:
    """Return what each stage of a hybrid or reranked search says; empty for another search."""
    parts = asdict(passage.score_parts) if passage.score_parts else {}
    return {name: value for name, value in parts.items() if value is not None}


async def retrieve(
    caller: Caller, request: RetrieveRequest, *, default_index: str
) -> dict[str, Any]:
    """Return the passages for each query, best first; an error of one query is that of all."""
    index = request.index or default_index
    slots = asyncio.Semaphore(_CONCURRENT)

    async def found(query: str) -> list[Any]:
        async with slots:
            search = SearchRequest(
                query,
                index,
                request.topk,
                filter_choices(request.filters),
                mode=request.mode,
                rerank=rerank_settings(request.rerank),
            )
            result = await caller.catalog.search(search)
        documents = [_document(each) for each in result.passages]
        if not request.return_scores:
            return documents
        return [
            {"document": document, "score": passage.score, "score_parts": score_parts_of(passage)}
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
