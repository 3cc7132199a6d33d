"""Iteration over every document of an index on OpenSearch, in pages sorted by passage id."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from scaar.retriever.opensearch.server import Server

Hit = Mapping[str, Any]


async def pages_of(
    server: Server, index: str, *, size: int, source: bool
) -> AsyncGenerator[Sequence[Hit], None]:
    """Yield the documents in pages of ``size``, with or without their source."""
    after: str | None = None
    while True:
        body: dict[str, object] = {
            "size": size,
            "sort": [{"passage_id": "asc"}],
            "_source": source,
            "track_total_hits": False,
        }
        if after is not None:
            body["search_after"] = [after]
        found = await server.call(
            server.client.search,
            f"read {index}",
            index=index,
            body=body,
            params={"allow_partial_search_results": "false"},
        )
        page: Sequence[Hit] = found["hits"]["hits"]
        yield page
        if len(page) < size:
            return
        after = page[-1]["sort"][0]
