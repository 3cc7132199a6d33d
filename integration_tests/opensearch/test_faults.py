"""Searches and builds when the server fails."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from opensearchpy import AsyncOpenSearch

from scaar.core.errors import (
    AlreadyExists,
    BackendUnavailable,
    CapabilityMissing,
    DataCorrupt,
    DeadlineExceeded,
    InvalidRequest,
)
from scaar.core.loop.budget import deadline_in
from scaar.core.types import IndexMode, IndexResult, Passage, RetrieveRequest
from scaar.retriever.factory import open_retriever
from scaar.retriever.opensearch.engine import OpenSearchRetriever

from ..servers.opensearch.node import Node, running_node
from .conftest import passages, settings_for, stream

VOLCANO = RetrieveRequest(("volcano",), 10, "geo")


async def test_a_node_lost_during_a_search_is_reported_and_found_again(node: Node) -> None:
    port = node.address.rpartition(":")[2]
    async with open_retriever(settings_for(node)) as retriever:
        await retriever.index_passages("geo", stream(passages(100)))
        before = await retriever.retrieve(VOLCANO)
        node.pause()
        asking = asyncio.create_task(retriever.retrieve(VOLCANO))
        await asyncio.sleep(0.1)
        node.kill()
        with pytest.raises(BackendUnavailable, match="OpenSearch does not respond"):
            await asking
        node.start(f"http.port={port}")
        assert await retriever.retrieve(VOLCANO) == before


async def test_a_hanging_node_costs_at_most_the_deadline(node: Node) -> None:
    async with open_retriever(settings_for(node)) as retriever:
        await retriever.index_passages("geo", stream(passages(10)))
        before = await retriever.retrieve(VOLCANO)
        node.pause()
        with deadline_in(0.3), pytest.raises(DeadlineExceeded, match="search the index 'geo'"):
            await retriever.retrieve(VOLCANO)
        node.resume()
        assert await retriever.retrieve(VOLCANO) == before


async def test_a_load_completes_on_a_temporarily_overloaded_server(home: object) -> None:
    with running_node("thread_pool.write.size=1", "thread_pool.write.queue_size=1") as node:
        settings = settings_for(node, opensearch_bulk_mb=0.02, opensearch_bulk_workers=16)
        async with (
            open_retriever(settings) as retriever,
            AsyncOpenSearch(f"http://{node.address}") as raw,
        ):
            built = await retriever.index_passages("geo", stream(passages(10_000)))
            assert built.index.passages == 10_000
            stats = await raw.nodes.stats(metric="thread_pool")
            ((_, reported),) = stats["nodes"].items()
            assert reported["thread_pool"]["write"]["rejected"] > 0


async def test_a_read_only_server_is_reported_and_the_load_resumes_later(
    node: Node,
) -> None:
    async def blocked() -> AsyncIterator[Passage]:
        for number, passage in enumerate(passages(3_000)):
            if number == 2_048:
                await block(True)
            yield passage

    async def block(on: bool | None) -> None:
        body = {"transient": {"cluster.blocks.read_only": on}}
        await raw.cluster.put_settings(body=body)

    settings = settings_for(node, opensearch_bulk_mb=0.02)
    async with (
        open_retriever(settings) as retriever,
        AsyncOpenSearch(f"http://{node.address}") as raw,
    ):
        with pytest.raises(CapabilityMissing, match="OpenSearch is read-only and cannot load"):
            await retriever.index_passages("geo", blocked())
        with pytest.raises(CapabilityMissing, match="read-only"):
            await retriever.index_passages("geo", stream(passages(10)))
        await block(None)
        built = await retriever.index_passages("geo", stream(passages(3_000)))
        assert built.index.passages == 3_000


async def test_an_index_that_lost_passages_is_damaged_and_can_be_replaced(
    shared_node: Node, raw: AsyncOpenSearch
) -> None:
    settings = settings_for(shared_node)
    async with open_retriever(settings) as retriever:
        await lose_a_passage(retriever, raw, f"{settings.opensearch_prefix}geo")


async def lose_a_passage(retriever: OpenSearchRetriever, raw: AsyncOpenSearch, alias: str) -> None:
    built = await retriever.index_passages("geo", stream(passages(10)))
    await retriever.index_passages("whole", stream(passages(10)))
    ((index, _),) = (await raw.indices.get_alias(name=alias)).items()
    await raw.indices.put_settings(index=index, body={"index.blocks.write": False})
    await raw.delete(index=index, id="p00003", params={"refresh": "true"})
    with pytest.raises(DataCorrupt, match="has 9 passages, not 10; rebuild it"):
        await retriever.describe_index("geo")
    with pytest.raises(DataCorrupt):
        await retriever.retrieve(VOLCANO)
    assert await retriever.check_indexes() == {"geo": False, "whole": True}
    again = await retriever.index_passages("geo", stream(passages(10)), mode=IndexMode.REPLACE)
    assert again.index.version == built.index.version
    assert await retriever.check_indexes() == {"geo": True, "whole": True}
    await retriever.drop_index("geo")
    await retriever.drop_index("whole")


async def test_of_two_builds_of_one_name_one_is_rejected(
    retriever: OpenSearchRetriever,
) -> None:
    built = await asyncio.gather(
        retriever.index_passages("geo", stream(passages(50, title="a"))),
        retriever.index_passages("geo", stream(passages(60, title="b"))),
        return_exceptions=True,
    )
    (won,) = [each for each in built if isinstance(each, IndexResult)]
    assert [each for each in built if isinstance(each, AlreadyExists)]
    assert await retriever.list_indexes() == (won.index,)


async def test_searches_see_one_version_or_the_other_while_an_index_is_replaced(
    retriever: OpenSearchRetriever,
) -> None:
    versions = {}
    for title in ("a", "b"):
        built = await retriever.index_passages(
            "geo", stream(passages(50, title=title)), mode=IndexMode.REPLACE
        )
        versions[title] = built.index.version
    replacing, seen = True, set()

    async def search() -> None:
        while replacing:
            found = await retriever.retrieve(RetrieveRequest(("volcano",) * 5, 20, "geo"))
            (title,) = {each.title for passages in found.results for each in passages}
            assert found.version == versions[title]
            seen.add(title)

    searches = [asyncio.create_task(search()) for _ in range(4)]
    for title in "abab":
        await retriever.index_passages(
            "geo", stream(passages(50, title=title)), mode=IndexMode.REPLACE
        )
    replacing = False
    await asyncio.gather(*searches)
    assert seen == {"a", "b"}


async def test_a_query_with_more_words_than_the_server_allows_is_refused(
    retriever: OpenSearchRetriever,
) -> None:
    await retriever.index_passages("geo", stream(passages(10)))
    long = " ".join(f"word{number}" for number in range(2_000))
    with pytest.raises(InvalidRequest) as caught:
        await retriever.retrieve(RetrieveRequest(("volcano", long), 3, "geo"))
    assert [each.field for each in caught.value.violations] == ["queries[1]"]
    found = await retriever.retrieve(RetrieveRequest(("volcano \ud800", "the of"), 3, "geo"))
    assert [len(each) for each in found.results] == [3, 0]


async def test_scores_are_the_same_with_more_shards(shared_node: Node) -> None:
    found = []
    for shards in (1, 3):
        settings = settings_for(shared_node, opensearch_shards=shards)
        async with open_retriever(settings) as retriever:
            await retriever.index_passages("geo", stream(passages(200)))
            queries = ("volcano", "word17 lava", "word150 word3")
            found.append((await retriever.retrieve(RetrieveRequest(queries, 10, "geo"))).results)
    assert [[each.id for each in passages] for passages in found[0]] == [
        [each.id for each in passages] for passages in found[1]
    ]


async def test_an_index_with_an_unavailable_shard_is_not_reported_as_damaged(
    node: Node,
) -> None:
    port = f"http.port={node.address.rpartition(':')[2]}"
    settings = settings_for(node, opensearch_shards=3, opensearch_bulk_mb=0.02)
    async with (
        open_retriever(settings) as retriever,
        AsyncOpenSearch(f"http://{node.address}") as raw,
    ):
        built = await retriever.index_passages("geo", stream(passages(100)))
        with pytest.raises(BackendUnavailable, match="the source is gone"):
            await retriever.index_passages("cut", cut_after(1_024, passages(2_000)))
        found = await raw.indices.get_settings(index=f"{settings.opensearch_prefix}*")
        shards = [
            node.folder / "data/nodes/0/indices" / each["settings"]["index"]["uuid"] / "0"
            for each in found.values()
        ]
        node.stop()
        for shard in shards:
            shard.rename(shard.with_name("away"))
        node.start(port)
        for requested in (
            retriever.describe_index("geo"),
            retriever.retrieve(VOLCANO),
            retriever.index_passages("geo", stream(passages(10)), mode=IndexMode.UPSERT),
            retriever.index_passages("cut", stream(passages(2_000))),
        ):
            with pytest.raises(BackendUnavailable):
                await requested
        assert await retriever.check_indexes() == {"geo": False}
        node.stop()
        for shard in shards:
            shard.with_name("away").rename(shard)
        node.start(port)
        assert await retriever.describe_index("geo") == built.index
        # What was loaded was not taken away.
        await retriever.index_passages("cut", stream(passages(2_000)))
        assert (await raw.indices.get_alias(index=f"{settings.opensearch_prefix}*")).keys() == (
            found.keys()
        )


async def cut_after(count: int, whole: list[Passage]) -> AsyncIterator[Passage]:
    for passage in whole[:count]:
        yield passage
    raise BackendUnavailable("the source is gone")
