import asyncio
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path

import pytest

from scaar.core.errors import NotFound
from scaar.core.types import IndexMode, RetrieveRequest
from scaar.retriever.factory import open_retriever
from scaar.retriever.local.engine import Bm25sRetriever
from scaar.retriever.local.files import IndexFiles
from scaar.retriever.settings import RetrieverSettings

from ..conftest import PASSAGES, stream

pytestmark = pytest.mark.slow

BUILDER = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    from scaar.core.types import IndexMode, Passage
    from scaar.retriever.factory import open_retriever
    from scaar.retriever.settings import RetrieverSettings

    async def passages():
        for number in range(5_000):
            yield Passage(str(number), "", f"word{number}")
        print("half way", flush=True)
        await asyncio.sleep(60)
        yield Passage("last", "", "word")

    async def main():
        async with open_retriever(RetrieverSettings(indexes=Path(sys.argv[1]))) as retriever:
            await retriever.index_passages("geo", passages(), mode=IndexMode.REPLACE)

    asyncio.run(main())
    """
)


def half_built(root: Path) -> subprocess.Popen[str]:
    """Start a process that is half way through building the index geo."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(root)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "half way\n"
    return process


def open_engine_at(root: Path) -> AbstractAsyncContextManager[Bm25sRetriever]:
    return open_retriever(RetrieverSettings(indexes=root))  # type: ignore[return-value]


def drafts(root: Path) -> list[Path]:
    return [path for path in root.iterdir() if path.name.startswith(".pending-")]


async def test_a_killed_builder_leaves_no_index(retriever: Bm25sRetriever, root: Path) -> None:
    with half_built(root) as process:
        process.send_signal(signal.SIGKILL)
    assert len(drafts(root)) == 1
    with pytest.raises(NotFound):
        await retriever.describe_index("geo")
    assert await retriever.list_indexes() == ()
    await retriever.index_passages("other", stream(PASSAGES))
    assert drafts(root) == []


async def test_a_killed_builder_leaves_the_old_index(retriever: Bm25sRetriever, root: Path) -> None:
    built = (await retriever.index_passages("geo", stream(PASSAGES))).index
    with half_built(root) as process:
        process.send_signal(signal.SIGKILL)
    assert await retriever.describe_index("geo") == built
    result = await retriever.retrieve(RetrieveRequest(("volcano",), 3, "geo"))
    assert len(result.results[0]) == 2


async def test_the_pending_index_of_a_running_builder_is_kept(
    retriever: Bm25sRetriever, root: Path
) -> None:
    with half_built(root) as process:
        try:
            await retriever.index_passages("other", stream(PASSAGES))
            assert len(drafts(root)) == 1
        finally:
            process.kill()


async def test_leftovers_of_a_kill_between_two_steps_are_harmless(
    retriever: Bm25sRetriever, root: Path
) -> None:
    """A kill between moving the new files and replacing the manifest."""
    built = (await retriever.index_passages("geo", stream(PASSAGES))).index
    orphan = root / "geo" / "0123456789abcdef"
    orphan.mkdir()
    (orphan / "passages.jsonl").write_text("half")
    assert await retriever.describe_index("geo") == built
    await retriever.index_passages("geo", stream(PASSAGES), mode=IndexMode.REPLACE)
    assert not orphan.exists()


def test_reading_writes_nothing(tmp_path: Path) -> None:
    files = IndexFiles(tmp_path / "nowhere")
    assert files.names() == []
    assert files.stamp("geo") is None
    assert list(tmp_path.iterdir()) == []


async def test_an_index_created_after_its_manifest_was_read_is_not_damaged(
    retriever: Bm25sRetriever, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is dropped and rebuilt between reading its manifest and its folder."""
    await retriever.index_passages("geo", stream(PASSAGES))
    shutil.copytree(root / "geo", root / ".kept")
    files, read_bytes = IndexFiles(root), Path.read_bytes

    def read_between(path: Path) -> bytes:
        monkeypatch.undo()
        files.drop("geo")
        try:
            return read_bytes(path)
        finally:
            (root / ".kept").rename(root / "geo")

    monkeypatch.setattr(Path, "read_bytes", read_between)
    assert files.read_manifest("geo").passages == len(PASSAGES)


@pytest.mark.long
async def test_an_index_dropped_and_rebuilt_is_complete_or_missing(
    retriever: Bm25sRetriever,
) -> None:
    """Queries during drops and rebuilds never see a damaged or partial index."""
    over = asyncio.Event()
    answered: Counter[str] = Counter()

    async def again_and_again() -> None:
        for _ in range(120):
            await retriever.index_passages("geo", stream(PASSAGES))
            await asyncio.sleep(0.002)
            await retriever.drop_index("geo")
        over.set()

    async def ask_for(name: str, ask: Callable[[], Awaitable[object]]) -> None:
        while not over.is_set():
            with suppress(NotFound):
                await ask()
                answered[name] += 1
            await asyncio.sleep(0)

    async def retrieved() -> None:
        found = await retriever.retrieve(RetrieveRequest(("volcano",), 3, "geo"))
        assert len(found.results[0]) == 2

    async def described() -> None:
        assert (await retriever.describe_index("geo")).passages == len(PASSAGES)

    async def listed() -> None:
        assert not [each.damage for each in await retriever.list_indexes() if each.damage]

    async def verified() -> None:
        found = await retriever.verify_index("geo")
        assert not [each for each in found.checks if not each.passed]

    asks = {each.__name__: each for each in (retrieved, described, listed, verified)}
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(again_and_again())
        for name, ask in asks.items():
            tasks.create_task(ask_for(name, ask))
    assert set(answered) == set(asks)


async def test_a_starting_service_deletes_only_leftovers_of_killed_builds(
    root: Path,
) -> None:
    with half_built(root) as killed, half_built(root) as running:
        killed.kill()
        killed.wait()
        assert len(drafts(root)) == 2
        async with open_engine_at(root) as retriever:
            assert await retriever.check_indexes() == {}
        (kept,) = drafts(root)
        running.kill()
    async with open_engine_at(root) as retriever:
        await retriever.check_indexes()
    assert not kept.exists()
