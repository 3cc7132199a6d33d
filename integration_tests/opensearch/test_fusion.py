"""The server's own reciprocal rank fusion beside ours, on a node with the neural-search plugin."""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from opensearchpy import AsyncOpenSearch

from scaar.core.types import HybridSettings, Passage, RetrieveRequest, SearchMode
from scaar.encoders.sentence_encoder import SentenceEncoder
from scaar.retriever.dense import Vectors
from scaar.retriever.factory import open_retriever
from scaar.retriever.opensearch.schema import search_lines, vector_search_lines
from scaar.retriever.opensearch.vectors import Json
from scaar.testing.conformance.hybrid import BOTH
from scaar.testing.word_encoder import write_word_encoder

from ..servers.opensearch.distribution import VERSION, make
from ..servers.opensearch.node import CACHE, Node, running_node
from .conftest import settings_for, stream

pytestmark = pytest.mark.skipif(
    not VERSION.startswith("2."), reason="Maven has the neural-search plugin for 2.19 only"
)

DEPTH = 20
WORDS = [f"word{number}" for number in range(40)]


@pytest.fixture(scope="module")
def node_with_fusion() -> Iterator[Node]:
    home = CACHE / "neural"
    make(home, plugin="knn,neural")
    with running_node(home=home) as node:
        yield node


@pytest.mark.parametrize("rrf_k", [60, 1])
async def test_rankings_without_ties_are_fused_to_the_same_scores(
    node_with_fusion: Node, tmp_path: Path, rrf_k: int
) -> None:
    chance = random.Random(7)
    texts = [" ".join(chance.choices(WORDS, k=chance.randint(5, 50))) for _ in range(200)]
    queries = tuple(" ".join(chance.sample(WORDS, 6)) for _ in range(50))
    settings = settings_for(node_with_fusion, encoder=write_word_encoder(tmp_path / "words", WORDS))
    encoder = SentenceEncoder.open(tmp_path / "words", threads=1)
    async with (
        open_retriever(settings) as retriever,
        AsyncOpenSearch(f"http://{node_with_fusion.address}") as raw,
    ):
        passages = (Passage(f"p{n:03}", "", text) for n, text in enumerate(texts))
        await retriever.index_passages("geo", stream(passages), dense=BOTH)
        deeper = RetrieveRequest(queries, DEPTH + 1, "geo")
        rankings = [
            (await retriever.retrieve(replace(deeper, mode=mode))).results
            for mode in (SearchMode.WORDS, SearchMode.VECTORS)
        ]
        without_ties = tuple(
            query
            for query, *both in zip(queries, *rankings, strict=True)
            if all(len({each.score for each in ranking}) == DEPTH + 1 for ranking in both)
        )
        assert len(without_ties) > 10
        hybrid = HybridSettings(rrf_k, candidates=DEPTH)
        request = RetrieveRequest(without_ties, DEPTH, "geo", hybrid=hybrid)
        ours = (await retriever.retrieve(request)).results
        for query, fused in zip(without_ties, ours, strict=True):
            (vector,) = encoder.encode([query])
            answer = await raw.search(
                index=f"{settings.opensearch_prefix}geo", body=_hybrid_search(query, vector, rrf_k)
            )
            hits = answer["hits"]["hits"]
            theirs = {each["_source"]["passage_id"]: each["_score"] for each in hits}
            # Equal up to single precision, so that the orders differ between equal sums only.
            assert [each.score for each in fused] == pytest.approx(
                [each["_score"] for each in hits[:DEPTH]], rel=1e-6
            )
            for each in fused:
                assert theirs[each.id] == pytest.approx(each.score, rel=1e-6)


def _hybrid_search(query: str, vector: Vectors, rrf_k: int) -> Json:
    """Return a search that fuses the rankings of our two searches on the server."""
    searches = (
        search_lines("", query, DEPTH, shards=1),
        vector_search_lines("", vector, DEPTH, settings=BOTH),
    )
    queries = [json.loads(lines.splitlines()[1])["query"] for lines in searches]
    # A constant directly in "combination" is ignored.
    fusion = {"combination": {"technique": "rrf", "parameters": {"rank_constant": rrf_k}}}
    return {
        "query": {"hybrid": {"queries": queries, "pagination_depth": DEPTH}},
        "size": 2 * DEPTH,
        "search_pipeline": {"phase_results_processors": [{"score-ranker-processor": fusion}]},
    }
