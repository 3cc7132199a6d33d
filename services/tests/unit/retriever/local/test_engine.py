import asyncio
import errno
import itertools
import math
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from scaar.core.errors import (
    AlreadyExists,
    BackendUnavailable,
    InvalidRequest,
    NotFound,
    Overloaded,
)
from scaar.core.types import IndexMode, Passage, RetrievedPassage, RetrieveRequest
from scaar.retriever.local.engine import Bm25sRetriever

from ..conftest import PASSAGES, stream

OpenEngine = Callable[..., AbstractAsyncContextManager[Bm25sRetriever]]


async def search(
    retriever: Bm25sRetriever, query: str, *, top_k: int = 10, index: str = "geo"
) -> tuple[RetrievedPassage, ...]:
    result = await retriever.retrieve(RetrieveRequest((query,), top_k, index))
    return result.results[0]


def ids(found: tuple[RetrievedPassage, ...]) -> list[str]:
    return [passage.id for passage in found]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_the_best_passages_come_first(retriever: Bm25sRetriever) -> None:
    await retriever.index_passages("geo", stream(PASSAGES))
    found = await search(retriever, "Which volcanoes are in Japan?")
    assert ids(found) == ["p-2", "p-1"]
    assert [passage.rank for passage in found] == [1, 2]
    assert found[0].score > found[1].score > 0
    assert (found[0].title, found[0].text) == (PASSAGES[0].title, PASSAGES[0].text)


async def test_scores_are_bm25_by_lucenes_formula(retriever: Bm25sRetriever) -> None:
    await retriever.index_passages("geo", stream(PASSAGES))
    # Terms: p-2 "mount fuji mount fuji volcano japan", p-1 "etna etna volcano itali",
    # p-3 "danub river flow through vienna"; "volcano" once each in p-2 and p-1.
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    for passage in await search(retriever, "volcano"):
        length = {"p-2": 6, "p-1": 4}[passage.id]
        expected = idf / (1 + 0.9 * (1 - 0.4 + 0.4 * length / 5))
        assert passage.score == pytest.approx(expected, rel=1e-6)


async def test_equal_scores_at_the_cutoff_are_sorted_by_id(retriever: Bm25sRetriever) -> None:
    same = [Passage(f"id-{n}", "", "the same words") for n in (7, 10, 3, 1, 5)]
    better = Passage("z", "", "words words words")
    await retriever.index_passages("geo", stream([*same, better]))
    assert ids(await search(retriever, "words", top_k=3)) == ["z", "id-1", "id-10"]
    assert ids(await search(retriever, "words", top_k=1)) == ["z"]
    everything = ["z", "id-1", "id-10", "id-3", "id-5", "id-7"]
    assert ids(await search(retriever, "words", top_k=100)) == everything


async def test_the_order_of_indexing_changes_nothing(retriever: Bm25sRetriever) -> None:
    for number, order in enumerate(itertools.permutations(PASSAGES)):
        await retriever.index_passages(f"geo-{number}", stream(order))
        found = await search(retriever, "a volcano in Italy or a river", index=f"geo-{number}")
        assert ids(found) == ["p-1", "p-3", "p-2"]


@pytest.mark.parametrize("query", ["the of and", "...", "zebra", "🙂", "\x00"])
async def test_a_query_without_a_known_word_finds_nothing(
    retriever: Bm25sRetriever, query: str
) -> None:
    await retriever.index_passages("geo", stream(PASSAGES))
    assert await search(retriever, query) == ()


async def test_each_query_has_its_result_and_none_has_none(retriever: Bm25sRetriever) -> None:
    built = (await retriever.index_passages("geo", stream(PASSAGES))).index
    result = await retriever.retrieve(RetrieveRequest(("river", "nothing", "Etna"), 1, "geo"))
    assert [ids(found) for found in result.results] == [["p-3"], [], ["p-1"]]
    assert (result.index, result.version) == ("geo", built.version)
    assert (await retriever.retrieve(RetrieveRequest((), 1, "geo"))).results == ()


async def test_requests_are_validated_before_the_index_is_opened(
    retriever: Bm25sRetriever,
) -> None:
    with pytest.raises(InvalidRequest, match=r"queries\[0\]: must not be empty; top_k"):
        await retriever.retrieve(RetrieveRequest(("",), 0, "geo"))
    with pytest.raises(InvalidRequest, match="index"):
        await retriever.retrieve(RetrieveRequest(("x",), 1, "../geo"))


async def test_the_error_of_a_missing_index_lists_the_others_and_gives_advice(
    retriever: Bm25sRetriever,
) -> None:
    with pytest.raises(NotFound, match=r"no index 'geo' \(existing indexes: none\); build"):
        await search(retriever, "x")
    await retriever.index_passages("other", stream(PASSAGES))
    for call in (
        search(retriever, "x"),
        retriever.describe_index("geo"),
        retriever.drop_index("geo"),
        retriever.delete_passages("geo", ["p-1"]),
    ):
        with pytest.raises(NotFound, match="existing indexes: other"):
            await call


async def test_an_index_is_described_as_it_was_built(open_engine: OpenEngine) -> None:
    async with open_engine(k1=1.2, b=0.75) as retriever:
        built = (await retriever.index_passages("geo", stream(PASSAGES))).index
    async with open_engine() as retriever:
        assert await retriever.describe_index("geo") == built
        assert await retriever.list_indexes() == (built,)
    assert (built.name, built.passages, built.engine) == ("geo", 3, "bm25s")
    assert (built.k1, built.b) == (1.2, 0.75)
    assert built.created.endswith("Z")
    assert built.size_bytes > 0


async def test_the_version_is_that_of_the_content(retriever: Bm25sRetriever) -> None:
    one = (await retriever.index_passages("a", stream(PASSAGES))).index
    same = (await retriever.index_passages("b", stream(PASSAGES))).index
    other = (await retriever.index_passages("c", stream(PASSAGES[:2]))).index
    assert one.version == same.version != other.version


async def test_an_existing_index_is_kept_unless_replace_is_set(
    retriever: Bm25sRetriever,
) -> None:
    await retriever.index_passages("geo", stream(PASSAGES))
    with pytest.raises(AlreadyExists, match="scaar index drop geo"):
        await retriever.index_passages("geo", stream(PASSAGES[:1]))
    assert len(await search(retriever, "volcano")) == 2
    await retriever.index_passages("geo", stream(PASSAGES[:1]), mode=IndexMode.REPLACE)
    assert ids(await search(retriever, "volcano")) == ["p-2"]


@pytest.mark.parametrize(
    ("passages", "message"),
    [
        ((), "passages: must not be empty"),
        ((Passage("a", "", "the of"),), "passages: must contain a word other than stop words"),
        (
            (*PASSAGES, Passage("p-1", "", "x")),
            r"passages\[3\].id: 'p-1' is already the id of passages\[1\]",
        ),
        ((Passage("a", "", "x"), Passage("b", "", "")), r"passages\[1\].text: must not be empty"),
    ],
)
async def test_invalid_passages_leave_no_index_and_no_files(
    retriever: Bm25sRetriever, root: Path, passages: tuple[Passage, ...], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        await retriever.index_passages("geo", stream(passages))
    assert names(root) == [".lock"]


async def test_a_failed_replacement_leaves_the_old_index(retriever: Bm25sRetriever) -> None:
    await retriever.index_passages("geo", stream(PASSAGES))
    with pytest.raises(InvalidRequest):
        await retriever.index_passages(
            "geo", stream([Passage("", "", "x")]), mode=IndexMode.REPLACE
        )
    assert len(await search(retriever, "volcano")) == 2


async def test_a_cancelled_build_leaves_nothing(retriever: Bm25sRetriever, root: Path) -> None:
    given = asyncio.Event()

    async def endless() -> AsyncIterator[Passage]:
        for number in itertools.count():
            if number == 2_000:
                given.set()
            await asyncio.sleep(0)
            yield Passage(str(number), "", "words")

    building = asyncio.create_task(retriever.index_passages("geo", endless()))
    await given.wait()
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    assert names(root) == [".lock"]


async def test_passages_are_deleted_and_counted(retriever: Bm25sRetriever, root: Path) -> None:
    built = (await retriever.index_passages("geo", stream(PASSAGES))).index
    assert await retriever.delete_passages("geo", ["nobody"]) == 0
    assert (await retriever.describe_index("geo")).version == built.version
    assert await retriever.delete_passages("geo", ["p-1", "p-1", "nobody", "p-3"]) == 2
    assert ids(await search(retriever, "volcano river")) == ["p-2"]
    described = await retriever.describe_index("geo")
    assert described.passages == 1
    with pytest.raises(InvalidRequest, match="scaar index drop geo"):
        await retriever.delete_passages("geo", ["p-2"])
    assert len(list((root / "geo").iterdir())) == 2


async def test_a_rebuilt_index_keeps_its_k1_and_b(open_engine: OpenEngine) -> None:
    async with open_engine(k1=2.0, b=0.1) as retriever:
        await retriever.index_passages("geo", stream(PASSAGES))
    async with open_engine() as retriever:
        await retriever.delete_passages("geo", ["p-1"])
        described = await retriever.describe_index("geo")
    assert (described.k1, described.b) == (2.0, 0.1)


async def test_concurrent_deletions_lose_nothing(retriever: Bm25sRetriever) -> None:
    many = [Passage(f"{number:02}", "", "words") for number in range(20)]
    await retriever.index_passages("geo", stream(many))
    calls = (retriever.delete_passages("geo", [f"{number:02}"]) for number in range(10))
    assert await asyncio.gather(*calls) == [1] * 10
    assert ids(await search(retriever, "words", top_k=100)) == [f"{n:02}" for n in range(10, 20)]


async def test_the_name_of_a_dropped_index_is_free(retriever: Bm25sRetriever) -> None:
    await retriever.index_passages("geo", stream(PASSAGES))
    await search(retriever, "volcano")
    await retriever.drop_index("geo")
    with pytest.raises(NotFound):
        await search(retriever, "volcano")
    assert await retriever.list_indexes() == ()
    await retriever.index_passages("geo", stream(PASSAGES[:1]))
    assert ids(await search(retriever, "volcano")) == ["p-2"]


async def test_searches_work_while_the_index_is_replaced(open_engine: OpenEngine) -> None:
    """Search repeatedly. All passages of a result must be of one generation."""

    def generation(number: int) -> list[Passage]:
        return [Passage(f"{n:02}", str(number), "words") for n in range(30)]

    async with open_engine(threads=4) as writer, open_engine(threads=4) as reader:
        await writer.index_passages("geo", stream(generation(0)))
        done = asyncio.Event()
        seen: set[str] = set()

        async def read() -> None:
            while not done.is_set():
                found = await search(reader, "words", top_k=100)
                titles = {passage.title for passage in found}
                assert len(found) == 30
                assert len(titles) == 1
                seen.update(titles)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(4):
                tasks.create_task(read())
            for number in range(1, 20):
                await writer.index_passages(
                    "geo", stream(generation(number)), mode=IndexMode.REPLACE
                )
            done.set()
        assert (await search(reader, "words"))[0].title == "19"
        assert len(seen) > 2


async def test_two_builders_of_one_name_make_one_index(open_engine: OpenEngine) -> None:
    async with open_engine() as one, open_engine() as other:
        results = await asyncio.gather(
            one.index_passages("geo", stream(PASSAGES)),
            other.index_passages("geo", stream(PASSAGES)),
            return_exceptions=True,
        )
        assert sorted(type(result).__name__ for result in results) == [
            "AlreadyExists",
            "IndexResult",
        ]
        assert len(await search(one, "volcano")) == 2


async def test_too_many_concurrent_requests_are_refused(open_engine: OpenEngine) -> None:
    async with open_engine(threads=1, max_concurrent=3) as retriever:
        await retriever.index_passages("geo", stream(PASSAGES))
        results = await asyncio.gather(
            *(search(retriever, "volcano") for _ in range(10)), return_exceptions=True
        )
        assert sum(isinstance(result, Overloaded) for result in results) == 7
        assert len(await search(retriever, "volcano")) == 2


async def test_more_indexes_than_the_maximum_of_open_ones_can_be_used(
    open_engine: OpenEngine,
) -> None:
    async with open_engine(open_indexes=1) as retriever:
        for name in ("a", "b"):
            await retriever.index_passages(name, stream(PASSAGES))
        for name in ("a", "b", "a"):
            assert len(await search(retriever, "volcano", index=name)) == 2


@pytest.fixture
def blocked_root(root: Path) -> Path:
    root.write_text("a file is in the way")
    return root


@pytest.mark.usefixtures("blocked_root")
async def test_a_read_only_folder_is_a_condition(open_engine: OpenEngine) -> None:
    async with open_engine() as retriever:
        with pytest.raises(BackendUnavailable, match="the indexes cannot be used"):
            await retriever.index_passages("geo", stream(PASSAGES))
        assert await retriever.list_indexes() == ()


async def test_a_full_disk_names_the_folder_and_the_space_that_is_needed(
    retriever: Bm25sRetriever, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("scaar.retriever.local.builder.IndexBuilder.add", full)
    with pytest.raises(BackendUnavailable) as caught:
        await retriever.index_passages("geo", stream(PASSAGES))
    assert caught.value.message.startswith(
        "the disk of the indexes is full: 'geo' needs more than "
    )
    assert f"free space on the disk of {root}, or set SCAAR_RETRIEVER_INDEXES" in str(caught.value)
    assert [each.name for each in root.iterdir()] == [".lock"]
