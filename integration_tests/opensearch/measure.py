"""Measures the overhead of the retriever over opensearch-py, and the speed of builds.

python -m integration_tests.opensearch.measure [PASSAGES]
"""

import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from opensearchpy import AsyncOpenSearch

from scaar.core.types import Passage, RetrieveRequest
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings

from ..servers.opensearch.distribution import make
from ..servers.opensearch.node import CACHE, Node, running_node

Ask = Callable[[str], Awaitable[object]]

QUERIES, WORDS = 300, 30_000


def text(chance: random.Random, words: int) -> str:
    """Return words distributed by Zipf's law, as in a language."""
    return " ".join(f"w{int(WORDS ** chance.random())}" for _ in range(words))


async def generated(count: int) -> AsyncIterator[Passage]:
    """Yield passages of 100 words."""
    chance = random.Random(1)
    for number in range(count):
        yield Passage(f"p{number}", text(chance, 3), text(chance, 100))


async def medians_ms(requested: Sequence[Ask], queries: list[str]) -> list[float]:
    """Return the median time of each call. Calls alternate, to run under the same conditions."""
    taken: list[list[float]] = [[] for _ in requested]
    for query in queries:
        for ask, times in zip(requested, taken, strict=True):
            began = time.perf_counter()
            await ask(query)
            times.append((time.perf_counter() - began) * 1000)
    return [statistics.median(times) for times in taken]


async def measure(node: Node, count: int) -> None:
    url = f"http://{node.address}"
    settings = RetrieverSettings(engine="opensearch", opensearch_urls=(url,), opensearch_replicas=0)
    async with open_retriever(settings) as retriever, AsyncOpenSearch(url) as raw:
        began = time.perf_counter()
        read = sum([1 async for _ in generated(count)])
        reading_s = time.perf_counter() - began
        began = time.perf_counter()
        built = (await retriever.index_passages("load", generated(read))).index
        seconds = time.perf_counter() - began - reading_s
        print(
            f"{built.passages:,} passages in {seconds:.1f} s without making them "
            f"({built.passages / seconds:,.0f}/s), {built.size_bytes / 1e6:.1f} MB on disk"
        )

        async def by_scaar(query: str) -> object:
            return await retriever.retrieve(RetrieveRequest((query,), 3, "load"))

        async def by_raw(query: str) -> object:
            body = {
                "query": {"match": {"contents": {"query": query}}},
                "size": 3,
                "sort": [{"_score": "desc"}, {"passage_id": "asc"}],
                "track_total_hits": False,
            }
            lines = f"{json.dumps({'index': 'scaar-load'})}\n{json.dumps(body)}\n"
            return await raw.msearch(body=lines)

        chance = random.Random(2)
        queries = [text(chance, 6) for _ in range(QUERIES)]
        for name in ("warm-up", "first", "second"):
            raw_ms, scaar_ms = await medians_ms((by_raw, by_scaar), queries)
            print(f"{name}: raw {raw_ms:.2f} ms, scaar {scaar_ms:.2f} ms a search (median)")


if __name__ == "__main__":
    make(CACHE / "plain")
    with running_node() as running:
        asyncio.run(measure(running, int((sys.argv[1:] or ["200000"])[0])))
