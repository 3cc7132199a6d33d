from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scaar.core.errors import AlreadyExists, BackendUnavailable, InvalidRequest
from scaar.core.types import DenseSettings, IndexMode, Passage, RetrieveRequest
from scaar.retriever.documents.ledger import LedgerFile
from scaar.retriever.documents.reading import DocumentFolders
from scaar.retriever.documents.refresh import RefreshResult, refresh_index
from scaar.retriever.documents.watching import FolderWatcher
from scaar.retriever.local.engine import Bm25sRetriever
from scaar.retriever.settings import RetrieverSettings


class FailingDeletion(Bm25sRetriever):
    """A retriever that stores passages, but deletes none."""

    async def delete_passages(self, index: str, passage_ids: object) -> int:
        raise BackendUnavailable("the connection was lost")


@pytest.fixture
async def indexes(tmp_path: Path) -> AsyncIterator[Bm25sRetriever]:
    engine = Bm25sRetriever(tmp_path / "indexes", RetrieverSettings())
    yield engine
    engine.close()


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "etna.md").write_text("# Etna\n\nEtna is in Italy.\n\n## Height\n\nIt is high.")
    (folder / "fuji.md").write_text("# Fuji\n\nFuji is in Japan.")
    return folder


async def refresh(
    indexes: Bm25sRetriever,
    *roots: Path,
    mode: IndexMode = IndexMode.CREATE,
    dense: DenseSettings | None = None,
) -> RefreshResult:
    file = LedgerFile(roots[0].parent / "ledgers", "here", "docs")
    read = DocumentFolders(roots).read()
    return await refresh_index(indexes, "docs", read, file, mode=mode, dense=dense)


def counts(result: RefreshResult) -> tuple[int, int, int, int]:
    return result.added, result.changed, result.removed, result.unchanged


async def texts(indexes: Bm25sRetriever) -> set[str]:
    request = RetrieveRequest(("etna fuji italy japan high alps",), index="docs", top_k=50)
    (found,) = (await indexes.retrieve(request)).results
    return {each.text for each in found}


async def test_a_second_run_takes_up_changes_and_drops_what_went(
    indexes: Bm25sRetriever, documents: Path
) -> None:
    assert counts(await refresh(indexes, documents)) == (3, 0, 0, 0)
    first = await indexes.describe_index("docs")
    assert first.metadata_fields == ("page", "section", "source", "url")
    assert counts(await refresh(indexes, documents)) == (0, 0, 0, 3)
    assert (await indexes.describe_index("docs")).version == first.version
    (documents / "fuji.md").unlink()
    (documents / "alps.txt").write_text("The Alps are in Europe.")
    moved = "# Etna\n\nEtna is in Italy.\n\n## How high\n\nIt is high."
    (documents / "etna.md").write_text(moved)
    assert counts(await refresh(indexes, documents)) == (1, 1, 1, 1)
    assert await texts(indexes) == {"Etna is in Italy.", "It is high.", "The Alps are in Europe."}
    assert counts(await refresh(indexes, documents)) == (0, 0, 0, 3)


async def test_passages_of_other_roots_and_of_files_stay(
    indexes: Bm25sRetriever, documents: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "fuji.md").write_text("# Fuji\n\nFuji is in Japan.")
    await refresh(indexes, documents)
    await refresh(indexes, other)
    (documents / "fuji.md").unlink()
    assert counts(await refresh(indexes, documents)) == (0, 0, 0, 2)
    assert "Fuji is in Japan." in await texts(indexes)


async def test_what_another_command_deleted_is_stored_again(
    indexes: Bm25sRetriever, documents: Path
) -> None:
    await refresh(indexes, documents)
    gone = next(iter(DocumentFolders([documents]).read()))
    await indexes.delete_passages("docs", [gone.id])
    await refresh(indexes, documents)
    assert gone.text in await texts(indexes)


async def test_a_failed_deletion_is_completed_by_the_next_refresh(
    indexes: Bm25sRetriever, documents: Path, tmp_path: Path
) -> None:
    await refresh(indexes, documents)
    (documents / "fuji.md").write_text("# Fuji\n\nFuji was seen from Tokyo, in Japan.")
    failing = FailingDeletion(tmp_path / "indexes", RetrieverSettings())
    with pytest.raises(BackendUnavailable):
        await refresh(failing, documents)
    failing.close()
    assert len(await texts(indexes)) == 4
    assert counts(await refresh(indexes, documents)) == (0, 0, 1, 3)
    assert "Fuji is in Japan." not in await texts(indexes)


async def test_an_index_of_something_else_is_refused_unless_it_is_named(
    indexes: Bm25sRetriever, documents: Path
) -> None:
    async def passages() -> AsyncIterator[Passage]:
        yield Passage("1", "Alps", "The Alps are high.")

    await indexes.index_passages("docs", passages(), metadata_fields=["source"])
    with pytest.raises(AlreadyExists, match="--replace replaces it, --upsert adds"):
        await refresh(indexes, documents)
    with pytest.raises(InvalidRequest, match="metadata_fields: must equal"):
        await refresh(indexes, documents, mode=IndexMode.UPSERT)
    assert counts(await refresh(indexes, documents, mode=IndexMode.REPLACE)) == (3, 0, 0, 0)


async def test_the_index_stays_if_no_document_is_left(
    indexes: Bm25sRetriever, documents: Path
) -> None:
    await refresh(indexes, documents)
    for file in documents.iterdir():
        file.unlink()
    with pytest.raises(InvalidRequest, match="documents: none with text is in"):
        await refresh(indexes, documents)
    assert len(await texts(indexes)) == 3


def test_a_damaged_ledger_counts_as_none(tmp_path: Path) -> None:
    file = LedgerFile(tmp_path, "here", "docs")
    assert file.read() is None
    for text in ("", "[]", '{"version": 1}', '{"version": "v", "roots": {"/a": 1}}'):
        file.path.write_text(text)
        assert file.read() is None


async def test_another_kind_of_index_is_refused_even_if_no_document_changed(
    indexes: Bm25sRetriever, documents: Path
) -> None:
    await refresh(indexes, documents)
    with pytest.raises(InvalidRequest, match=r"the index 'docs' \(BM25\); .* with --replace"):
        await refresh(indexes, documents, dense=DenseSettings(words=True))


class Watched:
    """States of files, and refreshes that may fail."""

    def __init__(self) -> None:
        self.current = 0
        self.refreshed: list[int] = []
        self.fails = False

    async def state(self) -> int:
        return self.current

    async def refresh(self) -> None:
        if self.fails:
            raise BackendUnavailable("no retriever")
        self.refreshed.append(self.current)


async def test_changes_are_taken_up_once_they_come_to_rest() -> None:
    watched = Watched()
    watcher = FolderWatcher(watched.state, watched.refresh, seen=0)
    assert not await watcher.poll()
    watched.current = 1
    assert not await watcher.poll()
    watched.current = 2
    assert not await watcher.poll()
    assert await watcher.poll()
    assert not await watcher.poll()
    assert watched.refreshed == [2]


async def test_a_failed_refresh_is_tried_again() -> None:
    watched = Watched()
    watcher = FolderWatcher(watched.state, watched.refresh, seen=0)
    watched.current, watched.fails = 1, True
    await watcher.poll()
    with pytest.raises(BackendUnavailable):
        await watcher.poll()
    watched.fails = False
    assert await watcher.poll()
    assert watched.refreshed == [1]
