"""Filtered searches, compared with filtered results and with the other engine."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opensearchpy import AsyncOpenSearch

from scaar.core.errors import BackendUnavailable, InvalidRequest
from scaar.core.filters import fits
from scaar.core.ports import Retriever
from scaar.core.types import (
    Filter,
    IndexMode,
    MetadataField,
    Passage,
    RetrieveRequest,
)
from scaar.retriever.factory import open_retriever
from scaar.retriever.opensearch.engine import OpenSearchRetriever
from scaar.retriever.settings import RetrieverSettings

from ..servers.opensearch.node import Node
from .conftest import passages, settings_for, stream

FIELDS = ("lang", "tenant")
WORDS = ("volcano", "river", "Japan", "Italy", "flows")
VALUES = ("a", "b", "ab", "ä", "a b", "A", 'said "so", twice')
QUERIES = (*WORDS, " ".join(WORDS))

filters = st.lists(
    st.builds(
        Filter,
        st.sampled_from(FIELDS),
        st.lists(st.sampled_from(VALUES), min_size=1, max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=3,
).map(tuple)


def carrying(count: int) -> list[Passage]:
    """Return passages of different lengths, so that few scores are similar."""
    chance = Random(7)
    found = []
    for number in range(count):
        metadata = tuple(
            MetadataField(name, tuple(chance.sample(VALUES, chance.randint(1, 3))))
            for name in FIELDS
            if chance.random() < 0.7
        )
        text = " ".join(chance.choices(WORDS, k=chance.randint(1, 12)))
        found.append(Passage(f"p{number:03}", "", text, metadata))
    return found


async def wanted_of(
    retriever: Retriever, expected: tuple[Filter, ...], top_k: int
) -> Sequence[Sequence[str]]:
    """Return the ids for every query, after comparing them with a filtered complete search."""
    everything = await retriever.retrieve(RetrieveRequest(QUERIES, 100, "geo"))
    found = await retriever.retrieve(RetrieveRequest(QUERIES, top_k, "geo", expected))
    for passages_, all_passages in zip(found.results, everything.results, strict=True):
        left = [each for each in all_passages if fits(each.metadata, expected)][:top_k]
        assert list(passages_) == [
            replace(each, rank=rank) for rank, each in enumerate(left, start=1)
        ]
    return [[each.id for each in passages_] for passages_ in found.results]


@settings(max_examples=4, deadline=None)
@given(st.lists(st.tuples(filters, st.integers(1, 8)), min_size=20, max_size=20))
def test_both_engines_find_the_same_by_filters(
    shared_node: Node,
    tmp_path_factory: pytest.TempPathFactory,
    requested: list[tuple[tuple[Filter, ...], int]],
) -> None:
    async def compared(root: Path) -> None:
        async with (
            open_retriever(settings_for(shared_node)) as server,
            open_retriever(RetrieverSettings(indexes=root)) as embedded,
        ):
            for retriever in (server, embedded):
                await retriever.index_passages("geo", stream(carrying(90)), metadata_fields=FIELDS)
            for expected, top_k in requested:
                of_server = await wanted_of(server, expected, top_k)
                of_embedded = await wanted_of(embedded, expected, top_k)
                # Lucene rounds the lengths of passages, so only the sets are comparable, and they
                # where top_k cuts nothing off.
                for one, other in zip(of_server, of_embedded, strict=True):
                    assert len(one) == len(other)
                    if len(one) < top_k:
                        assert set(one) == set(other)
            await server.drop_index("geo")

    asyncio.run(compared(tmp_path_factory.mktemp("indexes")))


async def test_filters_find_the_same_on_several_shards(shared_node: Node) -> None:
    async with (
        open_retriever(settings_for(shared_node)) as one,
        open_retriever(settings_for(shared_node, opensearch_shards=3)) as three,
    ):
        for retriever in (one, three):
            await retriever.index_passages("geo", stream(carrying(90)), metadata_fields=FIELDS)
        for expected in ((Filter("tenant", ("a", "b")),), (Filter("lang", ("ä",)),)):
            assert await wanted_of(one, expected, 5) == await wanted_of(three, expected, 5)


@pytest.mark.parametrize("shards", [1, 3])
async def test_exclusions_find_the_best_of_the_rest_with_the_same_scores(
    shared_node: Node, shards: int
) -> None:
    async with open_retriever(settings_for(shared_node, opensearch_shards=shards)) as retriever:
        await retriever.index_passages("geo", stream(carrying(90)), metadata_fields=FIELDS)
        for chosen in ((), (Filter("tenant", ("a", "b")),)):
            request = RetrieveRequest(QUERIES, 100, "geo", chosen)
            everything = (await retriever.retrieve(request)).results
            excluded = tuple({each.id for each in everything[0][:20]} | {"nobody"})
            request = replace(request, top_k=5, excluded_ids=excluded)
            for found, before in zip(
                (await retriever.retrieve(request)).results, everything, strict=True
            ):
                left = [each for each in before if each.id not in excluded][:5]
                assert found == tuple(replace(each, rank=rank) for rank, each in enumerate(left, 1))


async def test_an_undeclared_field_is_in_no_document(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch
) -> None:
    await retriever.index_passages("geo", stream(carrying(5)), metadata_fields=FIELDS)
    alias = f"{retriever._catalogue._prefix}geo"
    ((_, found),) = (await raw.indices.get_mapping(index=alias)).items()
    kept = found["mappings"]["properties"]["metadata"]
    assert kept["dynamic"] == "strict"
    assert {name: each["type"] for name, each in kept["properties"].items()} == {
        "lang": "keyword",
        "tenant": "keyword",
    }


async def test_an_interrupted_load_is_not_resumed_with_other_fields(
    retriever: OpenSearchRetriever,
) -> None:
    async def cut_off() -> object:
        for each in passages(600):
            yield each
        raise BackendUnavailable("the source is gone")

    with pytest.raises(BackendUnavailable):
        await retriever.index_passages("geo", cut_off())  # type: ignore[arg-type]
    built = await retriever.index_passages("geo", stream(carrying(5)), metadata_fields=FIELDS)
    assert (built.index.passages, built.index.metadata_fields) == (5, FIELDS)
    assert (await retriever.verify_index("geo")).is_whole


async def test_a_filter_is_validated_against_the_fields_of_the_new_index(
    shared_node: Node,
) -> None:
    settings_ = settings_for(shared_node)
    request = RetrieveRequest(("volcano",), 1, "geo", (Filter("tenant", ("a",)),))
    async with open_retriever(settings_) as one, open_retriever(settings_) as other:
        await one.index_passages("geo", stream(carrying(5)), metadata_fields=FIELDS)
        await one.retrieve(request)
        await other.index_passages("geo", stream(passages(5)), mode=IndexMode.REPLACE)
        # What was known of the index before is looked up again when that one has gone.
        with pytest.raises(InvalidRequest, match=r"its fields: none"):
            await one.retrieve(request)
