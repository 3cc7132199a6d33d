"""The engine on real collections, compared with published figures."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

from scaar.core.types import IndexDescription, RetrievedPassage, RetrieveRequest
from scaar.retriever.corpus.corpus import CorpusFile
from scaar.retriever.opensearch.engine import OpenSearchRetriever

from .conftest import stream

pytestmark = pytest.mark.real_data

# Anserini, BEIR's nfcorpus, flat: Lucene BM25, k1 0.9, b 0.4, title and text in one field.
PUBLISHED_NDCG_10 = 0.3218
PUBLISHED_RECALL_100 = 0.2457


async def index(retriever: OpenSearchRetriever, corpus: Path) -> IndexDescription:
    return (
        await retriever.index_passages("real", stream(CorpusFile(corpus, metadata=False)))
    ).index


async def find(
    retriever: OpenSearchRetriever, queries: list[str], top_k: int
) -> list[tuple[RetrievedPassage, ...]]:
    result = await retriever.retrieve(RetrieveRequest(tuple(queries), top_k, "real"))
    return list(result.results)


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def ndcg(found: tuple[RetrievedPassage, ...], relevant: dict[str, int]) -> float:
    """Return nDCG at 10 with linear gain, as in trec_eval."""
    gains = sorted(relevant.values(), reverse=True)[:10]
    ideal = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
    got = sum(relevant.get(each.id, 0) / math.log2(each.rank + 1) for each in found[:10])
    return got / ideal


async def test_nfcorpus_is_ranked_as_published(
    retriever: OpenSearchRetriever, real_data: Path
) -> None:
    folder = real_data / "nfcorpus"
    built = await index(retriever, folder / "corpus.jsonl.gz")
    assert built.passages == 3_633
    relevant: dict[str, dict[str, int]] = {}
    with (folder / "qrels" / "test.tsv").open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            relevant.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    queries = [each for each in json_lines(folder / "queries.jsonl") if each["_id"] in relevant]
    found = await find(retriever, [query["text"] for query in queries], 100)
    judged = [relevant[query["_id"]] for query in queries]
    scores = [ndcg(each, expected) for each, expected in zip(found, judged, strict=True)]
    assert sum(scores) / 323 == pytest.approx(PUBLISHED_NDCG_10, abs=0.002)
    recalls = [
        len({passage.id for passage in each} & expected.keys()) / len(expected)
        for each, expected in zip(found, judged, strict=True)
    ]
    assert sum(recalls) / 323 == pytest.approx(PUBLISHED_RECALL_100, abs=0.002)
    print(f"nDCG@10 {sum(scores) / 323:.4f}, recall@100 {sum(recalls) / 323:.4f}")


async def test_hotpotqa_finds_its_supports(retriever: OpenSearchRetriever, real_data: Path) -> None:
    folder = real_data / "hotpotqa"
    built = await index(retriever, folder / "hotpotqa_500.corpus.jsonl.gz")
    assert built.passages == 4_937
    questions = json_lines(folder / "hotpotqa_500.dev.jsonl")
    found = await find(retriever, [each["question"] for each in questions], 10)
    gold = [set(each["gold_ids"]) for each in questions]
    hits = sum(
        len({passage.id for passage in each} & expected)
        for each, expected in zip(found, gold, strict=True)
    )
    # A plain BM25Okapi on lower-cased words finds 0.7346 of them.
    assert hits / sum(map(len, gold)) > 0.85
    print(f"recall@10 {hits / sum(map(len, gold)):.4f}")
