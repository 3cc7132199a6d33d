"""An interrupted build is resumed, and an index is searched only when complete."""

import asyncio
import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial

import pytest
from opensearchpy import AsyncOpenSearch

from scaar.core.errors import BackendUnavailable, NotFound, Overloaded
from scaar.core.types import IndexMode, IndexResult, Passage, RetrieveRequest
from scaar.retriever.factory import open_retriever
from scaar.retriever.opensearch import pending
from scaar.retriever.opensearch.engine import OpenSearchRetriever
from scaar.testing.sockets import TRANSPORTS, retriever_by

from ..servers.opensearch.node import Node
from .conftest import passages, settings_for, stream

# Small requests, so that a cut comes after some and before others.
SMALL = {"opensearch_bulk_mb": 0.02, "opensearch_bulk_workers": 2}

KILLED = textwrap.dedent(
    """
    import asyncio, os, signal, sys
    from scaar.core.types import Passage
    from scaar.retriever.factory import open_retriever
    from scaar.retriever.settings import RetrieverSettings

    async def passages():
        for number in range(2_000):
            yield Passage(f"p{number:05}", "T", f"volcano word{number} {'lava ' * 20}")
        await asyncio.sleep(0.3)
        os.kill(os.getpid(), signal.SIGKILL)

    async def main():
        async with open_retriever(RetrieverSettings.read()) as retriever:
            await retriever.index_passages("geo", passages())

    asyncio.run(main())
    """
)


async def indexes_of(client: AsyncOpenSearch, prefix: str) -> dict[str, list[str]]:
    """Return the indexes on the server, and the aliases of each."""
    found = await client.indices.get_alias(index=f"{prefix}*")
    return {index: list(each["aliases"]) for index, each in found.items()}


async def sent_to(client: AsyncOpenSearch, index: str) -> int:
    """Return the number of indexing operations on an index."""
    stats = await client.indices.stats(index=index, metric="indexing")
    return int(stats["_all"]["primaries"]["indexing"]["index_total"])


async def until(condition: Callable[[], Awaitable[object]]) -> None:
    """Wait until a condition is true."""
    for _ in range(1_000):
        if await condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come about")


async def nobody_builds(retriever: OpenSearchRetriever) -> bool:
    return not retriever._pending._active_tokens


async def cut_after(count: int, whole: Sequence[Passage]) -> AsyncIterator[Passage]:
    for passage in whole[:count]:
        yield passage
    raise BackendUnavailable("the source is gone")


async def version_of(retriever: OpenSearchRetriever, whole: Sequence[Passage]) -> str:
    """Return the version of an index that is built without interruption."""
    built = await retriever.index_passages("other", stream(whole))
    return built.index.version


async def test_a_load_resumes_after_its_builder_was_killed(
    shared_node: Node, raw: AsyncOpenSearch
) -> None:
    settings = settings_for(shared_node, **SMALL)
    prefix = settings.opensearch_prefix
    killed = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", KILLED],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "SCAAR_RETRIEVER_ENGINE": "opensearch",
            "SCAAR_RETRIEVER_OPENSEARCH_URLS": f'["http://{shared_node.address}"]',
            "SCAAR_RETRIEVER_OPENSEARCH_PREFIX": prefix,
            "SCAAR_RETRIEVER_OPENSEARCH_BULK_MB": "0.02",
        },
    )
    assert killed.returncode == -9
    ((left, aliases),) = (await indexes_of(raw, prefix)).items()
    assert aliases == []
    async with open_retriever(settings) as retriever:
        with pytest.raises(NotFound):
            await retriever.retrieve(RetrieveRequest(("volcano",), 1, "geo"))
        built = await retriever.index_passages("geo", stream(passages(3_000)))
        assert built.added == built.index.passages == 3_000
        assert await indexes_of(raw, prefix) == {left: [f"{prefix}geo"]}
        # Those of the last request may have arrived, or not, when the builder went.
        assert 3_000 <= await sent_to(raw, left) < 3_600
        assert built.index.version == await version_of(retriever, passages(3_000))


async def test_a_load_resumes_after_its_server_was_killed(node: Node) -> None:
    async def with_kill(whole: Sequence[Passage]) -> AsyncIterator[Passage]:
        for number, passage in enumerate(whole):
            if number == 2_048:
                node.kill()
            yield passage

    port = node.address.rpartition(":")[2]
    settings = settings_for(node, **SMALL)
    async with open_retriever(settings) as retriever:
        with pytest.raises(BackendUnavailable, match="OpenSearch does not respond"):
            await retriever.index_passages("geo", with_kill(passages(3_000)))
        node.start(f"http.port={port}")
        async with AsyncOpenSearch(f"http://{node.address}") as raw:
            ((left, aliases),) = (await indexes_of(raw, settings.opensearch_prefix)).items()
            assert aliases == []
            before = await sent_to(raw, left)
            assert await retriever.list_indexes() == ()
            built = await retriever.index_passages("geo", stream(passages(3_000)))
            assert built.index.passages == 3_000
            assert await indexes_of(raw, settings.opensearch_prefix) == {
                left: [f"{settings.opensearch_prefix}geo"]
            }
            assert await sent_to(raw, left) - before < 2_500
        assert built.index.version == await version_of(retriever, passages(3_000))


async def test_a_build_of_other_passages_leaves_nothing_of_the_interrupted_one(
    retriever: OpenSearchRetriever,
) -> None:
    with pytest.raises(BackendUnavailable, match="the source is gone"):
        await retriever.index_passages("geo", cut_after(1_500, passages(2_000)))
    new = passages(800, title="new", first=400)
    built = await retriever.index_passages("geo", stream(new))
    assert built.index.passages == 800
    assert built.index.version == await version_of(retriever, new)
    found = await retriever.retrieve(RetrieveRequest(("word399", "word400"), 1, "geo"))
    gone, (kept,) = found.results
    assert gone == ()
    assert (kept.id, kept.title) == ("p00400", "new")


async def test_an_interrupted_load_can_be_deleted_by_name(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch
) -> None:
    with pytest.raises(BackendUnavailable):
        await retriever.index_passages("geo", cut_after(10, passages(20)))
    await retriever.drop_index("geo")
    with pytest.raises(NotFound):
        await retriever.drop_index("geo")


@pytest.mark.parametrize("mode", [IndexMode.UPSERT, IndexMode.REPLACE])
async def test_an_interrupted_change_leaves_the_index_unchanged(
    retriever: OpenSearchRetriever, mode: IndexMode
) -> None:
    built = await retriever.index_passages("geo", stream(passages(20)))
    with pytest.raises(BackendUnavailable):
        await retriever.index_passages("geo", cut_after(10, passages(20, title="new")), mode=mode)
    assert await retriever.list_indexes() == (built.index,)
    found = await retriever.retrieve(RetrieveRequest(("volcano",), 20, "geo"))
    assert {each.title for each in found.results[0]} == {"T"}


async def test_a_load_resumes_after_its_caller_disconnected(
    shared_node: Node, raw: AsyncOpenSearch
) -> None:
    arrived = asyncio.Event()

    async def endless() -> AsyncIterator[Passage]:
        for passage in passages(1_024):
            yield passage
        arrived.set()
        await asyncio.Event().wait()

    settings = settings_for(shared_node, **SMALL)
    async with open_retriever(settings) as retriever:
        for transport in TRANSPORTS:
            arrived.clear()
            async with retriever_by(transport, retriever) as requested:
                loading = asyncio.create_task(requested.index_passages("geo", endless()))
                await arrived.wait()
                await until(partial(indexes_of, raw, settings.opensearch_prefix))
                loading.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await loading
            await until(partial(nobody_builds, retriever))
        # Whichever is left, one load took over what the other had left.
        ((left, _),) = (await indexes_of(raw, settings.opensearch_prefix)).items()
        await retriever.index_passages("geo", stream(passages(1_500)))
        assert list(await indexes_of(raw, settings.opensearch_prefix)) == [left]


async def test_a_builder_sends_heartbeats_and_the_final_result(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "_RENEWAL_INTERVAL_S", 0.01)

    async def seen() -> set[float]:
        found = await raw.indices.get_mapping(index="test-*~*")
        records = [each["mappings"]["_meta"]["scaar"] for each in found.values()]
        return {each["builder"]["renewed"] for each in records if each["name"] == "renewed"}

    async def slow() -> AsyncIterator[Passage]:
        yield passages(1)[0]
        times: set[float] = set()
        while len(times) < 3:
            times |= await seen()

    built = await retriever.index_passages("renewed", slow())
    assert await retriever.describe_index("renewed") == built.index


async def test_a_pending_index_that_another_builder_took_over_is_not_published(
    shared_node: Node, raw: AsyncOpenSearch
) -> None:
    settings = settings_for(shared_node)

    async def taken() -> AsyncIterator[Passage]:
        yield passages(1)[0]
        ((index, found),) = (
            await raw.indices.get_mapping(index=f"{settings.opensearch_prefix}*")
        ).items()
        meta = found["mappings"]["_meta"]
        meta["scaar"]["builder"]["token"] = "another"
        await raw.indices.put_mapping(index=index, body={"_meta": meta})

    async with open_retriever(settings) as retriever:
        with pytest.raises(Overloaded, match="was changed by another process"):
            await retriever.index_passages("geo", taken())
        assert await retriever.list_indexes() == ()


async def test_concurrent_changes_by_processes_leave_one_complete_index(shared_node: Node) -> None:
    settings = settings_for(shared_node)
    async with open_retriever(settings) as one, open_retriever(settings) as other:
        await one.index_passages("geo", stream(passages(10)))
        done = await asyncio.gather(
            *(
                each.index_passages(
                    "geo", stream(passages(5, title=title, first=8)), mode=IndexMode.UPSERT
                )
                for each, title in ((one, "a"), (other, "b"))
            ),
            return_exceptions=True,
        )
        won = [each.index for each in done if isinstance(each, IndexResult)]
        assert all(isinstance(each, IndexResult | Overloaded) for each in done)
        assert await one.describe_index("geo") in won
        assert await other.check_indexes() == {"geo": True}


async def test_indexes_with_a_longer_prefix_are_ignored(shared_node: Node) -> None:
    settings = settings_for(shared_node)
    longer = settings.model_copy(update={"opensearch_prefix": f"{settings.opensearch_prefix}b-"})
    async with open_retriever(settings) as ours, open_retriever(longer) as theirs:
        await theirs.index_passages("geo", stream(passages(10)))
        assert await ours.list_indexes() == ()
        assert await ours.check_indexes() == {}
        with pytest.raises(NotFound):
            await ours.drop_index("b-geo")
        assert await theirs.check_indexes() == {"geo": True}
