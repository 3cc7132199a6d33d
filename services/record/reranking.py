"""Recall of the lab's reranker over BM25: ``python -m record.reranking SEED ...``.

For each world, passages of one fact each are indexed by words, and questions and drafts with a
wrong value are searched with and without reranking (:mod:`scaar.lab.fact_passages`).
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from scaar.core.ports import Retriever
from scaar.core.types import Passage, RerankSettings, RetrieveRequest
from scaar.lab.fact_passages import FactQuery, draw_fact_queries, fact_passages_of
from scaar.lab.models import LAB_RERANKER, model_folder
from scaar.lab.world import World, build_world
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings

QUERIES = 150
"""Number of questions, and of drafts, of a world."""
DEPTHS = (1, 3)


async def recalls(world: World, *, count: int = QUERIES) -> dict[tuple[str, bool], list[float]]:
    """Return recall@1 and recall@3 of questions and drafts, without and with reranking."""
    found = {}
    with TemporaryDirectory() as folder:
        settings = RetrieverSettings(indexes=Path(folder), reranker=model_folder(LAB_RERANKER))
        async with open_retriever(settings) as retriever:
            await retriever.index_passages("facts", _passages(world))
            queries = draw_fact_queries(world, count=count)
            for what, asked in zip(("questions", "drafts"), queries, strict=True):
                for reranked in (False, True):
                    found[what, reranked] = await _recall(retriever, asked, reranked=reranked)
    return found


async def _recall(
    retriever: Retriever, queries: Sequence[FactQuery], *, reranked: bool
) -> list[float]:
    sums = [0.0] * len(DEPTHS)
    for query in queries:
        rerank = RerankSettings() if reranked else None
        request = RetrieveRequest((query.text,), max(DEPTHS), "facts", rerank=rerank)
        ids = [each.id for each in (await retriever.retrieve(request)).results[0]]
        for place, depth in enumerate(DEPTHS):
            sums[place] += len({*ids[:depth]} & {*query.relevant}) / len(query.relevant)
    return [each / len(queries) for each in sums]


async def _passages(world: World) -> AsyncIterator[Passage]:
    for each in fact_passages_of(world):
        yield Passage(each.id, each.title, each.text)


def main(seeds: Sequence[int]) -> None:
    """Print a row for each world, kind of query and order."""
    print("| world | queries | order | R@1 | R@3 |\n| --- | --- | --- | --- | --- |")
    for seed in seeds:
        for (what, reranked), (first, third) in asyncio.run(recalls(build_world(seed))).items():
            order = f"reranked by {LAB_RERANKER}" if reranked else "BM25"
            print(f"| {seed} | {what} | {order} | {first:.3f} | {third:.3f} |")


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]])
