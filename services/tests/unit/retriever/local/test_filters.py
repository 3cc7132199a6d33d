"""Filtered searches, compared with filtered results of unfiltered searches."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaar.core.errors import DataCorrupt
from scaar.core.filters import fits
from scaar.core.types import Filter, IndexMode, MetadataField, Passage, RetrieveRequest
from scaar.retriever.factory import open_retriever
from scaar.retriever.local.engine import Bm25sRetriever
from scaar.retriever.local.manifest import decode_manifest, file_record
from scaar.retriever.settings import RetrieverSettings

from ..conftest import PASSAGES, stream

OpenEngine = Callable[..., AbstractAsyncContextManager[Bm25sRetriever]]

FIELDS = ("lang", "tenant")
WORDS = ("volcano", "river", "Japan", "Italy", "flows")
VALUES = ("a", "b", "ab", "ä", "a b", "z")
fields = st.lists(
    st.builds(
        MetadataField,
        st.sampled_from(FIELDS),
        st.lists(st.sampled_from(VALUES), min_size=1, max_size=3).map(tuple),
    ),
    max_size=2,
    unique_by=lambda each: each.name,
).map(tuple)
passages = st.lists(
    st.builds(
        Passage,
        id=st.text("abc", min_size=1, max_size=3),
        title=st.just(""),
        text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
        metadata=fields,
    ),
    min_size=1,
    max_size=30,
    unique_by=lambda each: each.id,
)
filters = st.lists(
    st.builds(
        Filter,
        st.sampled_from(FIELDS),
        st.lists(st.sampled_from(VALUES), min_size=1, max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=3,
).map(tuple)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(passages, passages, st.lists(filters, min_size=1, max_size=4), st.integers(1, 6))
def test_a_tenant_sees_the_best_of_its_passages_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory,
    old: list[Passage],
    new: list[Passage],
    expected: list[tuple[Filter, ...]],
    top_k: int,
) -> None:
    async def compared() -> None:
        root = tmp_path_factory.mktemp("indexes")
        async with open_retriever(RetrieverSettings(indexes=root)) as retriever:
            for given_ in (old, new):
                await retriever.index_passages(
                    "geo", stream(given_), mode=IndexMode.UPSERT, metadata_fields=FIELDS
                )
                await compared_with_everything(retriever, expected, top_k)
            gone = [passage.id for passage in old[:-1]]
            if gone and {each.id for each in new} - set(gone):
                await retriever.delete_passages("geo", gone)
                await compared_with_everything(retriever, expected, top_k)
            assert (await retriever.verify_index("geo")).is_whole

    asyncio.run(compared())


async def compared_with_everything(
    retriever: Bm25sRetriever, expected: list[tuple[Filter, ...]], top_k: int
) -> None:
    queries = (*WORDS, " ".join(WORDS))
    everything = await retriever.retrieve(RetrieveRequest(queries, 100, "geo"))
    for each in expected:
        found = await retriever.retrieve(RetrieveRequest(queries, top_k, "geo", each))
        left = [
            [passage for passage in passages if fits(passage.metadata, each)][:top_k]
            for passages in everything.results
        ]
        assert [list(passages) for passages in found.results] == [
            [replace(passage, rank=rank) for rank, passage in enumerate(passages, 1)]
            for passages in left
        ]


async def test_an_index_without_fields_has_the_format_of_earlier_versions(
    open_engine: OpenEngine, root: Path
) -> None:
    async with open_engine() as retriever:
        built = (await retriever.index_passages("geo", stream(PASSAGES))).index
    manifest = json.loads((root / "geo" / "manifest.json").read_text())
    assert manifest["format"] == 1
    assert "metadata_fields" not in manifest
    (lines,) = root.glob("geo/*/passages.jsonl")
    assert json.loads(lines.read_text().splitlines()[1]) == [*_parts(PASSAGES[1])]
    # What the version before made of these passages.
    assert built.version.startswith("f63761302473")


def _parts(passage: Passage) -> tuple[str, str, str]:
    return passage.id, passage.title, passage.text


@pytest.mark.parametrize("array", ["keys", "key_offsets", "rows", "row_offsets"])
async def test_inconsistent_arrays_of_values_are_damage(
    open_engine: OpenEngine, root: Path, array: str
) -> None:
    carrying = [replace(each, metadata=(MetadataField("lang", ("en",)),)) for each in PASSAGES]
    async with open_engine() as retriever:
        await retriever.index_passages("geo", stream(carrying), metadata_fields=("lang",))
        await retriever.index_passages("other", stream(PASSAGES), metadata_fields=("lang",))
    (theirs,) = root.glob(f"other/*/metadata_{array}.npy")
    (ours,) = root.glob(f"geo/*/metadata_{array}.npy")
    ours.write_bytes(theirs.read_bytes())
    _recorded(ours)
    async with open_engine() as retriever:
        request = RetrieveRequest(("volcano",), 3, "geo", (Filter("lang", ("en",)),))
        with pytest.raises(DataCorrupt, match="has counts that differ"):
            await retriever.retrieve(request)


def _recorded(path: Path) -> None:
    """Record the current file in the manifest, as if it had been built so."""
    manifest_file = path.parent.parent / "manifest.json"
    manifest = decode_manifest(manifest_file.read_bytes(), path.parent.parent.name)
    files = tuple(file_record(path.parent / each.name) for each in manifest.files)
    manifest_file.write_bytes(replace(manifest, files=files).encode())
