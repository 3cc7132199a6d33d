"""Indexes of words and vectors, and reranking, on a real node with the k-NN plugin."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from scaar.core.ports import Retriever
from scaar.core.types import (
    Filter,
    HybridSettings,
    MetadataField,
    Passage,
    RetrieveRequest,
    ScoreParts,
    SearchMode,
)
from scaar.retriever.factory import open_retriever
from scaar.testing.conformance import hybrid, reranking
from scaar.testing.conformance.hybrid import BOTH, HybridConformance
from scaar.testing.conformance.reranking import RerankingConformance
from scaar.testing.conformance.retriever import WORDS, RetrieverConformance
from scaar.testing.dense_indexes import OneMode
from scaar.testing.word_cross_encoder import write_word_cross_encoder
from scaar.testing.word_encoder import write_word_encoder

from ..servers.opensearch.distribution import make
from ..servers.opensearch.node import CACHE, Node, running_node
from .conftest import settings_for, stream


@pytest.fixture(scope="module")
def node_with_vectors() -> Iterator[Node]:
    home = CACHE / "knn"
    make(home, plugin="knn")
    with running_node(home=home) as node:
        yield node


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    texts = (*WORDS, *hybrid.WORDS, *reranking.WORDS)
    write_word_encoder(folder / "words", texts)
    write_word_cross_encoder(folder / reranking.NAME, texts)
    return folder


class TestOpenSearchHybrid(HybridConformance):
    @pytest.fixture
    async def retriever(  # type: ignore[override]
        self, node_with_vectors: Node, models: Path
    ) -> AsyncIterator[Retriever]:
        settings = settings_for(node_with_vectors, encoder=models / "words")
        async with open_retriever(settings) as engine:
            yield engine


class InOneMode(RetrieverConformance):
    keeps_order = False
    mode = SearchMode.WORDS

    @pytest.fixture
    async def retriever(  # type: ignore[override]
        self, node_with_vectors: Node, models: Path
    ) -> AsyncIterator[Retriever]:
        settings = settings_for(node_with_vectors, encoder=models / "words")
        async with open_retriever(settings) as engine:
            yield cast("Retriever", OneMode(engine, self.mode, BOTH))


class TestWordsOfBoth(InOneMode): ...


class TestVectorsOfBoth(InOneMode):
    mode, by_words = SearchMode.VECTORS, False


class TestOpenSearchReranking(RerankingConformance):
    @pytest.fixture
    async def retriever(  # type: ignore[override]
        self, node_with_vectors: Node, models: Path
    ) -> AsyncIterator[Retriever]:
        settings = settings_for(
            node_with_vectors, encoder=models / "words", reranker=models / reranking.NAME
        )
        async with open_retriever(settings) as engine:
            yield engine


CARRYING = [
    Passage(f"p{n:03}", "", f"word{n} word{n % 7}", (MetadataField("part", (str(n % 5),)),))
    for n in range(200)
]


@pytest.mark.parametrize(
    "settings", [HybridSettings(), HybridSettings(1, 2.0, 0.5), HybridSettings(candidates=7)]
)
async def test_both_engines_fuse_the_same_rankings(
    node_with_vectors: Node,
    models: Path,
    tmp_path: Path,
    settings: HybridSettings,
) -> None:
    """By exact search; the graphs of two engines find other passages among equally near ones."""
    request = RetrieveRequest(
        ("word3 word10", "word6", *(f"word{n}" for n in range(20))), 10, "geo", hybrid=settings
    )
    filtered = replace(request, filters=(Filter("part", ("1", "3")),), excluded_ids=("p003",))
    found = []
    own = settings_for(node_with_vectors, encoder=models / "words")
    for each in (own, own.model_copy(update={"engine": "bm25s", "indexes": tmp_path})):
        async with open_retriever(each) as retriever:
            await retriever.index_passages(
                "geo", stream(CARRYING), metadata_fields=("part",), dense=BOTH
            )
            for asked in (request, filtered):
                found.append((await retriever.retrieve(asked)).results)
    for here, there in zip(found[:2], found[2:], strict=True):
        for passages, others in zip(here, there, strict=True):
            assert [each.id for each in passages] == [each.id for each in others]
            assert [each.score for each in passages] == [each.score for each in others]
            assert [_ranks(each.score_parts) for each in passages] == [
                _ranks(each.score_parts) for each in others
            ]


def _ranks(parts: ScoreParts | None) -> list[int | None]:
    assert parts is not None
    return [each.rank if each else None for each in (parts.words, parts.vectors, parts.fused)]
