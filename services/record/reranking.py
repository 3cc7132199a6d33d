"""Recall of searches of the lab by words, vectors and both, and with its reranker.

``python -m record.reranking SEED ...``; with ``SCAAR_RETRIEVER_ENCODER``, by vectors too. For each
world, passages of one fact each are indexed, and questions, and drafts with a wrong value, are
searched (:mod:`scaar.lab.fact_passages`).
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from scaar.core.ports import Retriever
from scaar.core.types import DenseSettings, Passage, RerankSettings, RetrieveRequest, SearchMode
from scaar.lab.fact_passages import FactQuery, draw_fact_queries, fact_passages_of
from scaar.lab.models import LAB_RERANKER, model_folder
from scaar.lab.world import World, build_world
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings

QUERIES = 150
"""Number of questions, and of drafts, of a world."""
DEPTHS = (1, 3)
Recalls = dict[tuple[str, SearchMode, bool], list[float]]
"""Recall at each depth by kind of query, mode, and whether passages are reranked."""


async def recalls(world: World, *, count: int = QUERIES, encoder: Path | None = None) -> Recalls:
    """Return the recall of questions and drafts in each mode, without and with reranking."""
    found: Recalls = {}
    with TemporaryDirectory() as folder:
        settings = RetrieverSettings(
            indexes=Path(folder), reranker=model_folder(LAB_RERANKER), encoder=encoder
        )
        dense = None if encoder is None else DenseSettings(words=True)
        async with open_retriever(settings) as retriever:
            built = await retriever.index_passages("facts", _passages(world), dense=dense)
            queries = draw_fact_queries(world, count=count)
            for what, asked in zip(("questions", "drafts"), queries, strict=True):
                for mode in built.index.modes:
                    for reranked in (False, True):
                        found[what, mode, reranked] = await _recall(
                            retriever, asked, mode, reranked=reranked
                        )
    return found


async def _recall(
    retriever: Retriever, queries: Sequence[FactQuery], mode: SearchMode, *, reranked: bool
) -> list[float]:
    sums = [0.0] * len(DEPTHS)
    rerank = RerankSettings() if reranked else None
    for query in queries:
        request = RetrieveRequest((query.text,), max(DEPTHS), "facts", mode=mode, rerank=rerank)
        ids = [each.id for each in (await retriever.retrieve(request)).results[0]]
        for place, depth in enumerate(DEPTHS):
            sums[place] += len({*ids[:depth]} & {*query.relevant}) / len(query.relevant)
    return [each / len(queries) for each in sums]


async def _passages(world: World) -> AsyncIterator[Passage]:
    for each in fact_passages_of(world):
        yield Passage(each.id, each.title, each.text)


def main(seeds: Sequence[int], tail_films: int | None) -> None:
    """Print a row for each world, kind of query, mode and order."""
    encoder = RetrieverSettings.read().encoder
    print("| world | queries | mode | reranked | R@1 | R@3 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for seed in seeds:
        world = build_world(seed)
        if tail_films is not None:
            world = replace(world, known=(), tail=world.tail[:tail_films])
        found = asyncio.run(recalls(world, encoder=encoder))
        for (what, mode, reranked), (first, third) in found.items():
            order = "yes" if reranked else "no"
            print(f"| {seed} | {what} | {mode} | {order} | {first:.3f} | {third:.3f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument(
        "--tail-films", type=int, help="index only the passages of this many tail films"
    )
    options = parser.parse_args()
    main(options.seeds, options.tail_films)
