import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scaar.core.types import (
    IndexMode,
    IndexVerification,
    MetadataField,
    Passage,
    RetrieveRequest,
)
from scaar.retriever.local.engine import Bm25sRetriever
from scaar.retriever.local.manifest import Manifest, decode_manifest, file_record

from ..conftest import PASSAGES, stream
from .test_damage import FILES, alter, empty, remove, truncate

OpenEngine = Callable[..., AbstractAsyncContextManager[Bm25sRetriever]]

CARRYING = [replace(each, metadata=(MetadataField("lang", ("en",)),)) for each in PASSAGES]


@pytest.fixture
async def files(retriever: Bm25sRetriever, root: Path) -> Path:
    await retriever.index_passages("geo", stream(CARRYING), metadata_fields=("lang",))
    return next(path for path in (root / "geo").iterdir() if path.is_dir())


def wrong(found: IndexVerification) -> list[tuple[str, str]]:
    assert not found.is_whole
    return [(each.name, each.found) for each in found.checks if not each.passed]


def record(folder: Path, **changes: object) -> None:
    """Record the current files in the manifest, as if they had been built so."""
    path = folder.parent / "manifest.json"
    manifest = decode_manifest(path.read_bytes(), "geo")
    files = tuple(file_record(folder / each.name) for each in manifest.files)
    changed: Manifest = replace(manifest, files=files, **changes)  # type: ignore[arg-type]
    path.write_bytes(changed.encode())


async def test_every_file_and_every_passage_is_compared_with_the_manifest(
    retriever: Bm25sRetriever, files: Path
) -> None:
    found = await retriever.verify_index("geo")
    assert [each.name for each in found.checks] == [
        "manifest.json",
        "analysis",
        *sorted([*FILES, *(path.name for path in files.glob("metadata_*"))]),
        "arrays",
        "passages",
        "version",
        "content",
        "order of id_ranks.npy",
        "values of lang",
    ]
    assert found.is_whole


@pytest.mark.parametrize("name", [*FILES, "metadata_rows.npy"])
@pytest.mark.parametrize("damage", [remove, truncate, empty, alter])
async def test_only_the_damaged_file_is_reported(
    retriever: Bm25sRetriever, files: Path, name: str, damage: Callable[[Path], None]
) -> None:
    await retriever.retrieve(RetrieveRequest(("volcano",), 1, "geo"))  # it is open already
    damage(files / name)
    ((reported, _),) = wrong(await retriever.verify_index("geo"))
    assert reported == name


@pytest.mark.parametrize("damage", [remove, truncate, empty, alter])
async def test_only_the_manifest_is_reported_if_it_is_damaged(
    retriever: Bm25sRetriever, files: Path, damage: Callable[[Path], None]
) -> None:
    damage(files.parent / "manifest.json")
    found = await retriever.verify_index("geo")
    assert found.version == ""
    assert [name for name, _ in wrong(found)] == ["manifest.json"]


async def test_passages_of_another_version_are_reported(
    retriever: Bm25sRetriever, files: Path
) -> None:
    record(files, version="0" * 64)
    ((name, reported),) = wrong(await retriever.verify_index("geo"))
    assert name == "version"
    assert reported.endswith(", from the passages")


async def test_a_number_of_passages_that_differs_from_the_manifest_is_reported(
    retriever: Bm25sRetriever, files: Path
) -> None:
    record(files, passages=4)
    ((name, reported),) = wrong(await retriever.verify_index("geo"))
    assert (name, reported) == ("arrays", f"{files.name} has counts that differ")


async def test_a_repeated_id_is_reported(retriever: Bm25sRetriever, files: Path) -> None:
    path = files / "passages.jsonl"
    path.write_bytes(path.read_bytes().replace(b"p-1", b"p-2"))
    record(files)
    (reported,) = wrong(await retriever.verify_index("geo"))
    assert reported == ("passages", "passages[1].id: 'p-2' is already the id of passages[0]")


async def test_an_undeclared_field_is_reported(retriever: Bm25sRetriever, files: Path) -> None:
    path = files / "passages.jsonl"
    path.write_bytes(path.read_bytes().replace(b"lang", b"long"))
    record(files)
    ((name, reported),) = wrong(await retriever.verify_index("geo"))
    assert name == "passages"
    assert reported.startswith(
        "passages[0].metadata.long: is not a declared field of the index (lang)"
    )


async def test_an_invalid_passage_is_reported(retriever: Bm25sRetriever, files: Path) -> None:
    path = files / "passages.jsonl"
    path.write_bytes(path.read_bytes().replace(b"[", b"{"))
    record(files)
    assert wrong(await retriever.verify_index("geo")) == [
        ("arrays", f"{files.name} is inconsistent")
    ]


@pytest.mark.parametrize(
    ("file", "check"),
    [("metadata_rows.npy", "values of lang"), ("id_ranks.npy", "order of id_ranks.npy")],
)
async def test_arrays_that_do_not_match_the_passages_are_reported(
    retriever: Bm25sRetriever, files: Path, file: str, check: str
) -> None:
    np.save(files / file, np.load(files / file)[::-1])
    record(files)
    assert [name for name, _ in wrong(await retriever.verify_index("geo"))] == [check]


async def test_another_analysis_is_reported(retriever: Bm25sRetriever, files: Path) -> None:
    record(files, analyzer="another")
    assert wrong(await retriever.verify_index("geo")) == [("analysis", "another")]


async def test_searches_are_answered_while_an_index_is_verified(
    open_engine: OpenEngine, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, go_on = threading.Event(), threading.Event()

    def blocked(*arguments: object, **named: object) -> str:
        started.set()
        go_on.wait()
        return ""

    monkeypatch.setattr("scaar.retriever.local.verification.wrong_file", blocked)
    async with open_engine(threads=1) as retriever:
        verifying = asyncio.create_task(retriever.verify_index("geo"))
        try:
            await asyncio.to_thread(started.wait)
            found = await retriever.retrieve(RetrieveRequest(("volcano",), 1, "geo"))
            assert len(found.results[0]) == 1
        finally:
            go_on.set()
        assert (await verifying).is_whole


async def test_reading_stops_when_the_caller_is_cancelled(
    open_engine: OpenEngine, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, go_on, read = threading.Event(), threading.Event(), []

    def blocked(path: Path, *arguments: object, **named: object) -> str:
        read.append(path.name)
        started.set()
        go_on.wait()
        return ""

    monkeypatch.setattr("scaar.retriever.local.verification.wrong_file", blocked)
    async with open_engine() as retriever:
        verifying = asyncio.create_task(retriever.verify_index("geo"))
        await asyncio.to_thread(started.wait)
        verifying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await verifying
        go_on.set()
    assert len(read) == 1


async def test_text_is_not_changed(retriever: Bm25sRetriever, files: Path, root: Path) -> None:
    def content() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    alter(files / "passages.jsonl")
    before = content()
    await retriever.verify_index("geo")
    assert content() == before
    assert json.loads((files.parent / "manifest.json").read_text())["format"] == 2


async def test_an_index_replaced_meanwhile_passes_the_verification(
    retriever: Bm25sRetriever, files: Path
) -> None:
    async def replaced() -> None:
        for number in range(15):
            more = [*CARRYING, Passage(f"n-{number}", "", "Another one.")]
            await retriever.index_passages(
                "geo", stream(more), mode=IndexMode.REPLACE, metadata_fields=("lang",)
            )

    replacing = asyncio.create_task(replaced())
    while not replacing.done():
        found = await retriever.verify_index("geo")
        assert [each for each in found.checks if not each.passed] == []
    await replacing
