"""An upsert gives the same index as a build of the merged passages."""

import asyncio
import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.core.types import IndexMode, IndexResult, Passage, RetrieveRequest, RetrieveResult
from scaar.retriever.factory import open_retriever
from scaar.retriever.local.engine import Bm25sRetriever
from scaar.retriever.settings import RetrieverSettings

from ..conftest import PASSAGES, stream

pytestmark = pytest.mark.slow

OpenEngine = Callable[..., AbstractAsyncContextManager[Bm25sRetriever]]

WORDS = ("volcano", "river", "Japan", "Italy", "flows")
passages = st.builds(
    Passage,
    id=st.sampled_from("abcdef"),
    title=st.just(""),
    text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
)
streams = st.lists(passages, min_size=1, max_size=6, unique_by=lambda passage: passage.id)


async def upsert(retriever: Bm25sRetriever, *new: Passage) -> IndexResult:
    return await retriever.index_passages("geo", stream(new), mode=IndexMode.UPSERT)


async def search(retriever: Bm25sRetriever, index: str) -> RetrieveResult:
    found = await retriever.retrieve(RetrieveRequest((*WORDS, " ".join(WORDS)), 100, index))
    return replace(found, index="")


@settings(max_examples=25)
@given(st.lists(streams, min_size=1, max_size=3))
def test_single_upserts_give_the_index_of_the_merged_passages(
    tmp_path_factory: pytest.TempPathFactory, given_: list[list[Passage]]
) -> None:
    async def compared() -> None:
        root = tmp_path_factory.mktemp("indexes")
        async with open_retriever(RetrieverSettings(indexes=root)) as retriever:
            merged: dict[str, Passage] = {}
            for new in given_:
                before = len(merged)
                merged |= {passage.id: passage for passage in new}
                result = await upsert(retriever, *new)
                assert result.added == len(merged) - before
                assert result.replaced == len(new) - result.added
            await retriever.index_passages("merged", stream(merged.values()))
            assert await search(retriever, "geo") == await search(retriever, "merged")

    asyncio.run(compared())


async def test_an_upsert_keeps_k1_and_b_and_leaves_nothing_behind(
    open_engine: OpenEngine, root: Path
) -> None:
    async with open_engine(k1=2.0, b=0.1) as retriever:
        await upsert(retriever, *PASSAGES)
    async with open_engine() as retriever:
        result = await upsert(retriever, Passage("p-4", "", "The Rhine is a river."))
    assert (result.index.k1, result.index.b) == (2.0, 0.1)
    assert sorted(path.name for path in root.iterdir()) == [".lock", "geo"]
    assert len(list((root / "geo").iterdir())) == 2


async def test_an_upsert_that_changes_nothing_writes_no_files(
    retriever: Bm25sRetriever, root: Path
) -> None:
    await upsert(retriever, *PASSAGES)
    before = sorted(root.rglob("*"))
    await upsert(retriever, PASSAGES[1])
    assert sorted(root.rglob("*")) == before


async def test_a_damaged_index_is_reported_before_passages_are_read(
    retriever: Bm25sRetriever, root: Path
) -> None:
    async def untouched() -> AsyncIterator[Passage]:
        raise AssertionError("a passage was asked for")
        yield

    await upsert(retriever, *PASSAGES)
    next(root.glob("geo/*/passages.jsonl")).write_bytes(b"x")
    with pytest.raises(DataCorrupt, match="the index 'geo' is damaged"):
        await retriever.index_passages("geo", untouched(), mode=IndexMode.UPSERT)


async def test_concurrent_upserts_of_one_index_lose_nothing(retriever: Bm25sRetriever) -> None:
    results = await asyncio.gather(
        *(upsert(retriever, Passage(f"{n:02}", "", "river")) for n in range(12))
    )
    assert sorted(result.index.passages for result in results) == list(range(1, 13))
    found = (await retriever.retrieve(RetrieveRequest(("river",), 100, "geo"))).results[0]
    assert [passage.id for passage in found] == [f"{n:02}" for n in range(12)]


async def test_an_index_dropped_or_created_meanwhile_is_upserted_in_its_current_state(
    retriever: Bm25sRetriever,
) -> None:
    async def dropping() -> AsyncIterator[Passage]:
        await retriever.drop_index("geo")
        yield PASSAGES[0]

    async def creating() -> AsyncIterator[Passage]:
        await retriever.index_passages("new", stream(PASSAGES[:2]))
        yield PASSAGES[2]

    await upsert(retriever, *PASSAGES)
    dropped = await retriever.index_passages("geo", dropping(), mode=IndexMode.UPSERT)
    assert (dropped.added, dropped.index.passages) == (1, 1)
    created = await retriever.index_passages("new", creating(), mode=IndexMode.UPSERT)
    assert (created.added, created.index.passages) == (1, 3)


UPSERTS = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    from scaar.core.errors import Overloaded
    from scaar.core.types import IndexMode, Passage
    from scaar.retriever.factory import open_retriever
    from scaar.retriever.settings import RetrieverSettings

    async def river(number):
        yield Passage(f"{sys.argv[2]}-{number}", "", "river")

    async def main():
        async with open_retriever(RetrieverSettings(indexes=Path(sys.argv[1]))) as retriever:
            print("ready", flush=True)
            sys.stdin.readline()
            for number in range(8):
                while True:
                    try:
                        await retriever.index_passages("geo", river(number), mode=IndexMode.UPSERT)
                        break
                    except Overloaded as error:
                        assert "was changed by another process" in str(error)

    asyncio.run(main())
    """
)


def upserting(root: Path, name: str) -> subprocess.Popen[str]:
    """Start a process that upserts passages one by one, on a signal."""
    return subprocess.Popen(
        [sys.executable, "-c", UPSERTS, str(root), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


async def test_two_processes_upsert_one_index_and_lose_nothing(
    retriever: Bm25sRetriever, root: Path
) -> None:
    workers = [upserting(root, name) for name in ("a", "b")]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    for worker in workers:
        worker.communicate()
    assert [worker.returncode for worker in workers] == [0, 0]
    found = (await retriever.retrieve(RetrieveRequest(("river",), 100, "geo"))).results[0]
    ids = [f"{name}-{number}" for name in ("a", "b") for number in range(8)]
    assert [passage.id for passage in found] == ids


async def test_searches_and_descriptions_work_during_an_upsert(
    open_engine: OpenEngine,
) -> None:
    """Search repeatedly. All passages of a result must be of one generation."""

    def generation(number: int) -> list[Passage]:
        return [Passage(f"{n:02}", str(number), "river") for n in range(30)]

    async with open_engine() as writer, open_engine() as reader:
        await upsert(writer, *generation(0))
        done = asyncio.Event()
        seen: set[str] = set()

        async def read() -> None:
            while not done.is_set():
                request = RetrieveRequest(("river",), 100, "geo")
                found = (await reader.retrieve(request)).results[0]
                assert len(found) == 30
                assert len({passage.title for passage in found}) == 1
                seen.add(found[0].title)

        async def describe() -> None:
            while not done.is_set():
                assert (await reader.describe_index("geo")).passages == 30

        async with asyncio.TaskGroup() as tasks:
            for _ in range(4):
                tasks.create_task(read())
            for _ in range(4):
                tasks.create_task(describe())
            for number in range(1, 15):
                await upsert(writer, *generation(number))
            done.set()
        assert len(seen) > 2


async def test_an_invalid_mode_is_rejected_before_any_work(
    retriever: Bm25sRetriever, root: Path
) -> None:
    with pytest.raises(InvalidRequest, match="index: must be 1 to 64"):
        await retriever.index_passages("../geo", stream(PASSAGES), mode=IndexMode.UPSERT)
    assert not root.exists()
