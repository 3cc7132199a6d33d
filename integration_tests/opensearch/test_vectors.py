"""Vector indexes on a real node with the k-NN plugin.

An exact search by one metric and a graph by the other keep to the retriever's suite: what it holds
them to beside scores is no metric's. Scores are held to those of indexes in files by every search.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from opensearchpy import AsyncOpenSearch

from scaar.core.errors import BackendUnavailable, CapabilityMissing
from scaar.core.ports import Retriever
from scaar.core.types import (
    DenseSettings,
    Filter,
    HnswSettings,
    IndexMode,
    MetadataField,
    Passage,
    RetrieveRequest,
    VectorMetric,
)
from scaar.encoders.sentence_encoder import SentenceEncoder
from scaar.retriever.dense import Encoder, Vectors
from scaar.retriever.factory import open_retriever
from scaar.retriever.opensearch.engine import OpenSearchRetriever
from scaar.retriever.opensearch.server import open_server
from scaar.testing.conformance.retriever import WORDS, RetrieverConformance
from scaar.testing.dense_indexes import DenseIndexes
from scaar.testing.word_encoder import write_word_encoder

from ..servers.opensearch.distribution import make
from ..servers.opensearch.node import CACHE, Node, running_node
from .conftest import passages, settings_for, stream

GRAPH = DenseSettings(hnsw=HnswSettings())
EXACT = tuple(DenseSettings(metric) for metric in VectorMetric)


@pytest.fixture(scope="module")
def node_with_vectors() -> Iterator[Node]:
    home = CACHE / "knn"
    make(home, plugin="knn")
    with running_node(home=home) as node:
        yield node


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_word_encoder(tmp_path_factory.mktemp("models") / "words", WORDS)


class OfVectors(RetrieverConformance):
    keeps_order = False
    by_words = False

    @pytest.fixture
    async def retriever(  # type: ignore[override]
        self, search: DenseSettings, node_with_vectors: Node, encoder: Path
    ) -> AsyncIterator[Retriever]:
        async with open_retriever(settings_for(node_with_vectors, encoder=encoder)) as engine:
            yield cast("Retriever", DenseIndexes(engine, search))


@pytest.mark.parametrize("search", [DenseSettings(VectorMetric.L2)])
class TestOpenSearchVectors(OfVectors): ...


@pytest.mark.parametrize("search", [GRAPH])
class TestOpenSearchGraph(OfVectors):
    is_exact = False


CARRYING = [
    Passage(f"p{n:03}", "", f"word{n} word{n % 7}", (MetadataField("part", (str(n % 5),)),))
    for n in range(200)
]


@pytest.mark.parametrize("search", [*EXACT, GRAPH])
async def test_both_engines_find_the_same_with_the_same_scores(
    node_with_vectors: Node, encoder: Path, tmp_path: Path, search: DenseSettings
) -> None:
    request = RetrieveRequest(("word3 word10", "word6"), 10, "geo", (Filter("part", ("1", "3")),))
    found = []
    own = settings_for(node_with_vectors, encoder=encoder)
    for settings in (own, own.model_copy(update={"engine": "bm25s", "indexes": tmp_path})):
        async with open_retriever(settings) as retriever:
            await retriever.index_passages(
                "geo", stream(CARRYING), metadata_fields=("part",), dense=search
            )
            found.append((await retriever.retrieve(request)).results)
    for here, there in zip(*found, strict=True):
        assert [each.id for each in here] == [each.id for each in there]
        scores = [each.score for each in there]
        assert [each.score for each in here] == pytest.approx(scores, abs=1e-5)


@dataclass
class CountingEncoder:
    """An encoder that counts its texts."""

    own: SentenceEncoder
    texts: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return self.own.encode(texts)


async def test_loaded_passages_of_an_interrupted_load_are_not_encoded_again(
    node_with_vectors: Node, encoder: Path
) -> None:
    many = passages(1_100)

    async def cut_off() -> AsyncIterator[Passage]:
        for each in many:
            yield each
        raise BackendUnavailable("the source has gone")

    settings = settings_for(node_with_vectors, opensearch_bulk_mb=0.5)
    counting = CountingEncoder(SentenceEncoder.open(encoder, threads=1))
    async with open_server(settings) as server:
        retriever = OpenSearchRetriever(server, settings, encoder=cast("Encoder", counting))
        with pytest.raises(BackendUnavailable, match="the source has gone"):
            await retriever.index_passages("geo", cut_off(), dense=GRAPH)
        assert counting.texts == 1_024, "whole batches"
        built = await retriever.index_passages("geo", stream(many), dense=GRAPH)
        assert counting.texts < 2 * 1_024
        assert built.index.passages == 1_100
        assert (await retriever.verify_index("geo")).is_whole
        retriever.close()


async def test_a_retriever_with_another_encoder_is_rejected_but_may_delete(
    node_with_vectors: Node, encoder: Path, tmp_path: Path
) -> None:
    own = settings_for(node_with_vectors, encoder=encoder)
    async with open_retriever(own) as retriever:
        await retriever.index_passages(
            "geo", stream(CARRYING), metadata_fields=("part",), dense=GRAPH
        )
    other = write_word_encoder(tmp_path / "other", ["volcano"])
    async with open_retriever(own.model_copy(update={"encoder": other})) as retriever:
        with pytest.raises(CapabilityMissing, match=r"needs the encoder words .* has other"):
            await retriever.retrieve(RetrieveRequest(("word3",), 1, "geo"))
        with pytest.raises(CapabilityMissing, match="needs the encoder words"):
            await retriever.index_passages("geo", stream(CARRYING), mode=IndexMode.UPSERT)
        assert await retriever.check_indexes() == {"geo": False}
        assert await retriever.delete_passages("geo", ("p001",)) == 1


async def test_vectors_are_not_part_of_a_stored_passage(
    node_with_vectors: Node, encoder: Path
) -> None:
    settings = settings_for(node_with_vectors, encoder=encoder)
    async with (
        open_retriever(settings) as retriever,
        AsyncOpenSearch(f"http://{node_with_vectors.address}") as raw,
    ):
        await retriever.index_passages(
            "geo", stream(CARRYING[:1]), metadata_fields=("part",), dense=GRAPH
        )
        answer = await raw.search(index=f"{settings.opensearch_prefix}geo")
    assert set(answer["hits"]["hits"][0]["_source"]) == {"passage_id", "title", "text", "metadata"}
