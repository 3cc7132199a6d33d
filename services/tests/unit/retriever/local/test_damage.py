import asyncio
import json
import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from scaar.core.errors import DataCorrupt, NotFound
from scaar.core.types import IndexMode, RetrieveRequest
from scaar.retriever.local.engine import Bm25sRetriever

from ..conftest import PASSAGES, stream

OpenEngine = Callable[..., AbstractAsyncContextManager[Bm25sRetriever]]
REQUEST = RetrieveRequest(("volcano",), 3, "geo")
FILES = [
    "data.csc.index.npy",
    "id_ranks.npy",
    "indices.csc.index.npy",
    "indptr.csc.index.npy",
    "offsets.npy",
    "params.index.json",
    "passages.jsonl",
    "vocab.index.json",
]


def remove(path: Path) -> None:
    path.unlink()


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def alter(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)


@pytest.fixture
async def files(open_engine: OpenEngine, root: Path) -> Path:
    async with open_engine() as retriever:
        await retriever.index_passages("geo", stream(PASSAGES))
    return next(path for path in (root / "geo").iterdir() if path.is_dir())


def test_these_are_all_the_files(files: Path) -> None:
    assert sorted(path.name for path in files.iterdir()) == FILES


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", [remove, truncate, empty, alter])
async def test_a_damaged_file_is_reported_by_name(
    open_engine: OpenEngine, files: Path, name: str, damage: Callable[[Path], None]
) -> None:
    damage(files / name)
    async with open_engine() as retriever:
        with pytest.raises(DataCorrupt, match=f"the index 'geo' is damaged: {name} "):
            await retriever.retrieve(REQUEST)


async def test_a_file_in_place_of_the_folder_is_reported(
    open_engine: OpenEngine, files: Path
) -> None:
    shutil.rmtree(files)
    files.write_text("none of them")
    async with open_engine() as retriever:
        with pytest.raises(DataCorrupt, match=f"{FILES[0]} is missing"):
            await retriever.retrieve(REQUEST)
        with pytest.raises(DataCorrupt, match=f"{FILES[0]} is missing"):
            await retriever.describe_index("geo")


@pytest.mark.parametrize("damage", [remove, truncate, empty, alter])
async def test_a_damaged_manifest_is_reported(
    open_engine: OpenEngine, files: Path, damage: Callable[[Path], None]
) -> None:
    damage(files.parent / "manifest.json")
    async with open_engine() as retriever:
        for call in (retriever.retrieve(REQUEST), retriever.describe_index("geo")):
            with pytest.raises(DataCorrupt, match=r"'geo' is damaged: manifest\.json"):
                await call


async def test_a_changed_setting_in_the_manifest_is_damage(
    open_engine: OpenEngine, files: Path
) -> None:
    path = files.parent / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "k1": 1.2}))
    async with open_engine() as retriever:
        with pytest.raises(DataCorrupt, match=r"manifest\.json cannot be read"):
            await retriever.describe_index("geo")


async def test_the_error_of_another_format_says_to_rebuild_the_index(
    open_engine: OpenEngine, files: Path
) -> None:
    path = files.parent / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 5}))
    async with open_engine() as retriever:
        with pytest.raises(DataCorrupt, match=r"has format 5, not 1, 2, 3 or 4; rebuild it"):
            await retriever.retrieve(REQUEST)


async def test_an_index_under_another_name_is_refused(
    open_engine: OpenEngine, files: Path, root: Path
) -> None:
    files.parent.rename(root / "moved")
    async with open_engine() as retriever:
        with pytest.raises(DataCorrupt, match="belongs to the index 'geo'"):
            await retriever.describe_index("moved")


@pytest.mark.parametrize("name", FILES)
async def test_sizes_are_compared_even_without_checksums(
    open_engine: OpenEngine, files: Path, name: str
) -> None:
    truncate(files / name)
    async with open_engine(checksums=False) as retriever:
        with pytest.raises(DataCorrupt, match=name):
            await retriever.retrieve(REQUEST)


async def test_a_damaged_index_is_reported_at_the_start(
    open_engine: OpenEngine, files: Path
) -> None:
    alter(files / "passages.jsonl")
    with pytest.raises(DataCorrupt, match=r"passages\.jsonl was altered"):
        async with open_engine(preload=("geo",)):
            pass
    with pytest.raises(NotFound, match="nope"):
        async with open_engine(preload=("nope",)):
            pass


async def test_a_damaged_index_is_listed_with_its_damage_and_readable_properties(
    open_engine: OpenEngine, files: Path
) -> None:
    async with open_engine() as retriever:
        await retriever.index_passages("other", stream(PASSAGES))
        whole = await retriever.list_indexes()
        truncate(files / "passages.jsonl")
        damaged, other = await retriever.list_indexes()
        assert damaged.damage.startswith("passages.jsonl has ")
        assert (replace(damaged, damage=""), other) == whole
        empty(files.parent / "manifest.json")
        unreadable, other = await retriever.list_indexes()
        assert (unreadable.name, unreadable.version, unreadable.passages) == ("geo", "", 0)
        assert unreadable.damage == "manifest.json cannot be read"
        assert other == whole[1]


async def test_an_index_found_damaged_on_opening_is_listed_as_damaged(
    open_engine: OpenEngine, files: Path
) -> None:
    alter(files / "passages.jsonl")
    async with open_engine() as retriever:
        assert [each.damage for each in await retriever.list_indexes()] == [""]
        with pytest.raises(DataCorrupt):
            await retriever.retrieve(REQUEST)
        (listed,) = await retriever.list_indexes()
        assert listed.damage == "passages.jsonl was altered"


async def test_a_damaged_index_can_be_replaced_or_dropped(
    open_engine: OpenEngine, files: Path
) -> None:
    remove(files.parent / "manifest.json")
    async with open_engine() as retriever:
        await retriever.index_passages("geo", stream(PASSAGES), mode=IndexMode.REPLACE)
        assert len((await retriever.retrieve(REQUEST)).results[0]) == 2
        empty(files.parent / "manifest.json")
        await retriever.drop_index("geo")
        assert await retriever.list_indexes() == ()


async def test_every_index_is_checked_and_damaged_ones_are_logged(
    open_engine: OpenEngine, files: Path, caplog: pytest.LogCaptureFixture
) -> None:
    truncate(files / "passages.jsonl")
    async with open_engine() as retriever:
        await retriever.index_passages("other", stream(PASSAGES))
        assert await retriever.check_indexes() == {"geo": False, "other": True}
        (reported,) = caplog.messages
        assert reported.startswith("the index 'geo' is damaged: passages.jsonl has ")
        for call in (retriever.retrieve(REQUEST), retriever.describe_index("geo")):
            with pytest.raises(DataCorrupt, match="passages.jsonl has "):
                await call


@pytest.mark.parametrize("opened", ["at the start", "by a search"])
async def test_checksums_are_compared_in_the_background_while_an_index_is_served(
    open_engine: OpenEngine, files: Path, caplog: pytest.LogCaptureFixture, opened: str
) -> None:
    async with open_engine() as retriever:
        await retriever.index_passages("other", stream(PASSAGES))
    alter(files / "passages.jsonl")
    damaged: asyncio.Queue[str] = asyncio.Queue()
    async with open_engine() as retriever:
        # Nothing was read whole.
        assert await retriever.check_indexes() == {"geo": True, "other": True}
        names = ("geo", "other") if opened == "at the start" else ()
        async with retriever.checking(names, damaged.put_nowait):
            if opened == "by a search":
                with suppress(DataCorrupt):  # or else it was not found yet
                    await retriever.retrieve(REQUEST)
            assert await asyncio.wait_for(damaged.get(), 30) == "geo"
            (reported,) = caplog.messages
            assert reported.startswith(
                "the index 'geo' is damaged: passages.jsonl was altered; rebuild"
            )
            for call in (retriever.retrieve(REQUEST), retriever.describe_index("geo")):
                with pytest.raises(DataCorrupt, match="was altered"):
                    await call
            (listed, _) = await retriever.list_indexes()
            assert listed.damage == "passages.jsonl was altered"
            assert (await retriever.retrieve(replace(REQUEST, index="other"))).results[0]
            await retriever.index_passages("geo", stream(PASSAGES), mode=IndexMode.REPLACE)
            assert (await retriever.retrieve(REQUEST)).results[0]
    assert damaged.empty()


async def test_an_unverified_index_is_verified_before_it_is_changed(
    open_engine: OpenEngine, files: Path
) -> None:
    alter(files / "passages.jsonl")
    async with open_engine() as retriever, retriever.checking((), lambda name: None):
        for change in (
            retriever.index_passages("geo", stream(PASSAGES), mode=IndexMode.UPSERT),
            retriever.delete_passages("geo", ["p-1"]),
        ):
            with pytest.raises(DataCorrupt, match="was altered"):
                await change


async def test_sizes_alone_are_checked_without_checksums(
    open_engine: OpenEngine, files: Path
) -> None:
    alter(files / "passages.jsonl")
    async with open_engine(checksums=False) as retriever:
        assert await retriever.check_indexes() == {"geo": True}
    truncate(files / "passages.jsonl")
    async with open_engine(checksums=False) as retriever:
        assert await retriever.check_indexes() == {"geo": False}


async def test_a_damaged_index_is_read_once_until_its_files_change(
    open_engine: OpenEngine, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (files / "passages.jsonl").read_bytes()
    alter(files / "passages.jsonl")
    async with open_engine() as retriever:
        with pytest.raises(DataCorrupt, match="was altered"):
            await retriever.retrieve(REQUEST)
        # It would be found whole if it were opened, and its files are as they were.
        monkeypatch.setattr("scaar.retriever.local.cache.open_index", _not_to_be_opened)
        with pytest.raises(DataCorrupt, match="was altered"):
            await retriever.retrieve(REQUEST)
        monkeypatch.undo()
        (files / "passages.jsonl").write_bytes(whole)
        assert len((await retriever.retrieve(REQUEST)).results[0]) == 2


def _not_to_be_opened(*_: object, **__: object) -> None:
    raise AssertionError("a damaged index was opened again")
