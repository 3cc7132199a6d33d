"""Vector indexes: nearest passages, and encoders that match or do not."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import CapabilityMissing, DataCorrupt, InvalidRequest
from scaar.core.types import (
    DenseDescription,
    DenseSettings,
    Filter,
    HnswSettings,
    IndexMode,
    MetadataField,
    Passage,
    RetrieveRequest,
    VectorMetric,
)
from scaar.retriever.dense import Vectors
from scaar.retriever.factory import open_retriever
from scaar.retriever.local.engine import Bm25sRetriever
from scaar.retriever.local.vector_index import VectorIndex, write_vectors
from scaar.retriever.settings import RetrieverSettings
from scaar.testing.word_encoder import write_word_encoder

from .conftest import PASSAGES, stream

EXACT, GRAPH = DenseSettings(), DenseSettings(hnsw=HnswSettings())


@dataclass
class ChanceEncoder:
    """Returns a random vector for each text, and records the texts."""

    name: str = "chance"
    revision: str = "r1"
    width: int = 24
    received: list[str] = field(default_factory=list)

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.received += texts
        return np.stack([vector_of(text, self.width) for text in texts])


def vector_of(text: str, width: int = 24) -> Vectors:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=width)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def engine(root: Path, encoder: ChanceEncoder | None) -> Bm25sRetriever:
    return Bm25sRetriever(root, RetrieverSettings(), encoder=encoder)


def numbered(count: int, *, of: int = 4) -> list[Passage]:
    """Return passages that have one of several values each."""
    return [
        Passage(f"p{n:05}", "", f"text {n}", (MetadataField("part", (str(n % of),)),))
        for n in range(count)
    ]


async def search(
    retriever: Bm25sRetriever, query: str, top_k: int = 10, filters: tuple[Filter, ...] = ()
) -> list[tuple[str, float]]:
    request = RetrieveRequest((query,), top_k, "geo", filters)
    ((*passages,),) = (await retriever.retrieve(request)).results
    return [(each.id, each.score) for each in passages]


def by_numpy(
    passages: Iterable[Passage], query: str, metric: VectorMetric, top_k: int = 10
) -> list[tuple[str, float]]:
    """Return the nearest passages by definition, in double precision."""
    requested = vector_of(query).astype(np.float64)
    scored = []
    for each in passages:
        vector = vector_of(each.text).astype(np.float64)
        near = metric is VectorMetric.INNER_PRODUCT
        score = vector @ requested if near else -np.sum((vector - requested) ** 2)
        scored.append((each.id, float(score)))
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:top_k]


@pytest.mark.parametrize("metric", VectorMetric)
async def test_an_exact_search_finds_what_numpy_computes(root: Path, metric: VectorMetric) -> None:
    passages = numbered(700)
    retriever = engine(root, ChanceEncoder())
    dense = DenseSettings(metric)
    await retriever.index_passages("geo", stream(passages), metadata_fields=("part",), dense=dense)
    for query in ("one", "two", "three"):
        exact = await search(retriever, query)
        reported = by_numpy(passages, query, metric)
        assert [name for name, _ in exact] == [name for name, _ in reported]
        assert [score for _, score in exact] == pytest.approx([score for _, score in reported])


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("metric", VectorMetric)
async def test_a_graph_finds_nearly_all_and_with_filters_all(
    root: Path, metric: VectorMetric
) -> None:
    passages, retriever = numbered(3_000), engine(root, ChanceEncoder())
    dense = DenseSettings(metric, HnswSettings(m=16, ef_construction=100, ef_search=100))
    await retriever.index_passages("geo", stream(passages), metadata_fields=("part",), dense=dense)
    shared = 0
    queries = [f"query {number}" for number in range(50)]
    for query in queries:
        reported = {name for name, _ in by_numpy(passages, query, metric)}
        shared += len(reported & {name for name, _ in await search(retriever, query)})
    assert shared / (10 * len(queries)) >= 0.95
    for query in queries[:5]:
        expected = [each for each in passages if each.metadata[0].values[0] in ("1", "2")]
        reported = [name for name, _ in by_numpy(expected, query, metric)]
        filters = (Filter("part", ("1", "2")),)
        assert [name for name, _ in await search(retriever, query, filters=filters)] == reported


@pytest.mark.slow
@pytest.mark.parametrize("metric", VectorMetric)
async def test_a_graph_replaces_excluded_passages_by_the_next_ones(
    root: Path, metric: VectorMetric
) -> None:
    passages, retriever = numbered(3_000), engine(root, ChanceEncoder())
    dense = DenseSettings(metric, HnswSettings(m=16, ef_construction=100, ef_search=100))
    await retriever.index_passages("geo", stream(passages), metadata_fields=("part",), dense=dense)
    for query in (f"query {number}" for number in range(20)):
        first = await search(retriever, query, 40)
        excluded = tuple(name for name, _ in first[:30])
        request = RetrieveRequest((query,), 10, "geo", excluded_ids=excluded)
        (found,) = (await retriever.retrieve(request)).results
        assert [(each.id, each.score) for each in found] == first[30:]
        assert [each.rank for each in found] == list(range(1, 11))


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=120),
    st.integers(1, 100),
    st.sampled_from(VectorMetric),
)
def test_equally_near_passages_are_sorted_by_id(
    tmp_path_factory: pytest.TempPathFactory,
    values: list[float],
    top_k: int,
    metric: VectorMetric,
) -> None:
    folder = tmp_path_factory.mktemp("vectors")
    vectors = np.array([[value, 1.0] for value in values], dtype=np.float32)
    (folder / "raw").write_bytes(vectors.tobytes())
    dense = DenseDescription("e", "r", 2, DenseSettings(metric))
    longest = write_vectors(folder / "raw", dense, folder / "index")
    index = VectorIndex(folder / "index", dense, longest=longest)
    ranks = np.arange(len(values), dtype=np.int32)[::-1]
    near = index.nearest(np.array([1.0, 0.0], dtype=np.float32), top_k, ranks)
    scores = (
        values if metric is VectorMetric.INNER_PRODUCT else [-((v - 1) ** 2) - 1 for v in values]
    )
    order = sorted(range(len(values)), key=lambda row: (-scores[row], ranks[row]))
    assert [each.row for each in near] == order[:top_k]


async def test_an_index_describes_its_encoder_and_search_settings(root: Path) -> None:
    retriever = engine(root, ChanceEncoder())
    built = (await retriever.index_passages("geo", stream(PASSAGES), dense=GRAPH)).index
    assert built.dense == DenseDescription("chance", "r1", 24, GRAPH)
    assert (built.engine, built.k1, built.b) == ("faiss", 0, 0)
    by_words = (await retriever.index_passages("words", stream(PASSAGES))).index
    assert (by_words.dense, by_words.engine) == (None, "bm25s")
    assert by_words.content == built.content, "the passages are the same"
    reversed_ = (await retriever.index_passages("other", stream(reversed(PASSAGES)))).index
    assert reversed_.content == built.content, "whatever their order"
    fewer = (await retriever.index_passages("fewer", stream(PASSAGES[:2]))).index
    assert fewer.content != built.content


async def test_everything_that_changes_results_changes_the_version(root: Path) -> None:
    versions = set()
    for number, (encoder, dense) in enumerate(
        (
            (ChanceEncoder(), EXACT),
            (ChanceEncoder(revision="r2"), EXACT),
            (ChanceEncoder(width=25), EXACT),
            (ChanceEncoder(), DenseSettings(VectorMetric.L2)),
            (ChanceEncoder(), GRAPH),
            (ChanceEncoder(), DenseSettings(hnsw=HnswSettings(ef_search=99))),
        )
    ):
        retriever = engine(root, encoder)
        built = await retriever.index_passages(f"i{number}", stream(PASSAGES), dense=dense)
        versions.add(built.index.version)
    assert len(versions) == 6


@pytest.mark.parametrize("dense", [EXACT, GRAPH])
async def test_the_same_passages_make_the_same_bytes(root: Path, dense: DenseSettings) -> None:
    sums = []
    for name in ("one", "two"):
        retriever = engine(root, ChanceEncoder())
        await retriever.index_passages(
            name, stream(numbered(500)), metadata_fields=("part",), dense=dense
        )
        (path,) = (root / name).glob("*/vectors.faiss")
        sums.append(hashlib.sha256(path.read_bytes()).hexdigest())
    assert sums[0] == sums[1]


@pytest.mark.parametrize(
    ("other", "reported"),
    [
        (None, r"needs the encoder chance \(revision r1, 24 wide\), and the retriever has none"),
        (
            ChanceEncoder("new", "r2", 24),
            r"chance \(revision r1, 24 wide\), and the retriever has new \(revision r2, 24 wide\)",
        ),
        (
            ChanceEncoder("new", "r1", 48),
            r"chance \(revision r1, 24 wide\), and the retriever has new \(revision r1, 48 wide\)",
        ),
    ],
)
async def test_another_encoder_is_refused_and_both_are_named(
    root: Path, other: ChanceEncoder | None, reported: str
) -> None:
    built = await engine(root, ChanceEncoder()).index_passages("geo", stream(PASSAGES), dense=EXACT)
    retriever = engine(root, other)
    with pytest.raises(CapabilityMissing, match=reported):
        await search(retriever, "volcano")
    with pytest.raises(CapabilityMissing, match=reported):
        await retriever.index_passages("geo", stream(PASSAGES), mode=IndexMode.UPSERT)
    assert await retriever.check_indexes() == {"geo": False}
    assert await retriever.describe_index("geo") == built.index
    assert (await retriever.verify_index("geo")).is_whole


async def test_vectors_of_unchanged_texts_are_reused(root: Path) -> None:
    encoder = ChanceEncoder()
    retriever = engine(root, encoder)
    await retriever.index_passages("geo", stream(PASSAGES), dense=GRAPH)
    assert encoder.received == [f"{each.title} {each.text}".strip() for each in PASSAGES]
    encoder.received.clear()
    news = (PASSAGES[0], Passage("p-1", "Etna", "Etna sleeps."), Passage("p-9", "", "Lava."))
    upserted = await retriever.index_passages("geo", stream(news), mode=IndexMode.UPSERT)
    assert encoder.received == ["Etna Etna sleeps.", "Lava."]
    assert upserted.index.dense == DenseDescription("chance", "r1", 24, GRAPH)
    without = engine(root, None)
    assert await without.delete_passages("geo", ("p-9",)) == 1, "nothing is to be encoded"
    kept = [name for name, _ in await search(retriever, "Lava.")]
    assert sorted(kept) == ["p-1", "p-2", "p-3"]


async def test_an_upsert_with_other_search_settings_is_refused(root: Path) -> None:
    retriever = engine(root, ChanceEncoder())
    await retriever.index_passages("geo", stream(PASSAGES), dense=EXACT)
    await retriever.index_passages("words", stream(PASSAGES))
    for index, reported in (("geo", r"\(exact, ip\)"), ("words", r"\(BM25\)")):
        with pytest.raises(InvalidRequest, match=f"dense: must equal that of .*{reported}"):
            await retriever.index_passages(
                index, stream(PASSAGES), mode=IndexMode.UPSERT, dense=GRAPH
            )


async def test_vectors_need_an_encoder(root: Path) -> None:
    with pytest.raises(CapabilityMissing, match="SCAAR_RETRIEVER_ENCODER"):
        await engine(root, None).index_passages("geo", stream(PASSAGES), dense=EXACT)
    assert not root.exists()


@pytest.mark.parametrize(
    ("graph", "reported"),
    [
        (HnswSettings(m=1), "dense.hnsw.m: must be 2 to 128, not 1"),
        (HnswSettings(m=129), "dense.hnsw.m: must be 2 to 128, not 129"),
        (HnswSettings(ef_construction=31), "ef_construction: must be 32 to 2,000, not 31"),
        (HnswSettings(ef_construction=2_001), "ef_construction: must be 32 to 2,000, not 2,001"),
        (HnswSettings(ef_search=0), "dense.hnsw.ef_search: must be 1 to 10,000, not 0"),
        (HnswSettings(ef_search=10_001), "ef_search: must be 1 to 10,000, not 10,001"),
    ],
)
async def test_settings_out_of_range_are_refused_before_any_work(
    root: Path, graph: HnswSettings, reported: str
) -> None:
    encoder = ChanceEncoder()
    with pytest.raises(InvalidRequest, match=reported):
        await engine(root, encoder).index_passages(
            "geo", stream(PASSAGES), dense=DenseSettings(hnsw=graph)
        )
    assert not encoder.received
    assert not root.exists()


async def test_an_encoder_that_returns_no_numbers_builds_nothing(root: Path) -> None:
    class Broken(ChanceEncoder):
        def encode(self, texts: Sequence[str]) -> Vectors:
            return np.full((len(texts), self.width), np.nan, dtype=np.float32)

    retriever = engine(root, Broken())
    with pytest.raises(DataCorrupt, match="encoder chance does not return 24 finite numbers"):
        await retriever.index_passages("geo", stream(PASSAGES), dense=EXACT)
    assert await retriever.list_indexes() == ()


@pytest.mark.parametrize("content", [b"", b"none of faiss"])
async def test_an_altered_file_of_vectors_is_reported(root: Path, content: bytes) -> None:
    await engine(root, ChanceEncoder()).index_passages("geo", stream(PASSAGES), dense=EXACT)
    (path,) = (root / "geo").glob("*/vectors.faiss")
    path.write_bytes(content)
    retriever = engine(root, ChanceEncoder())
    with pytest.raises(DataCorrupt, match="vectors.faiss has"):
        await search(retriever, "volcano")
    verified = await retriever.verify_index("geo")
    assert [each.name for each in verified.checks if not each.passed] == ["vectors.faiss"]


async def test_texts_over_the_encoders_limit_are_truncated(root: Path, tmp_path: Path) -> None:
    words = " ".join(f"w{number}" for number in range(10))
    folder = write_word_encoder(tmp_path / "encoder", [words, "late"], max_tokens=10)
    async with open_retriever(RetrieverSettings(indexes=root, encoder=folder)) as retriever:
        passages = [Passage("a", "", f"{words} late"), Passage("b", "", words)]
        await retriever.index_passages("geo", stream(passages), dense=EXACT)
        request = RetrieveRequest((f"{words} late", "late"), 2, "geo")
        long, late = (await retriever.retrieve(request)).results
    assert [each.score for each in long] == pytest.approx([1.0, 1.0])
    assert [each.score for each in late] == [0.0, 0.0]
