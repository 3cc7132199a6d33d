"""The indexes of this machine or its server, and a file of passages read with progress."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from scaar.compose import scaar_home
from scaar.core.errors import DataCorrupt
from scaar.core.types import IndexMode, IndexResult, Passage
from scaar.retriever.corpus import CorpusFile
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings

if TYPE_CHECKING:
    from scaar.retriever.factory import Engine

_SHOWN_EVERY = 100


@asynccontextmanager
async def open_local_indexes() -> AsyncIterator["Engine"]:
    """The retriever that the settings name; bm25s, over :func:`scaar.compose.scaar_home`."""
    settings = RetrieverSettings.read()
    folder = settings.indexes or scaar_home() / "indexes"
    async with open_retriever(settings.model_copy(update={"indexes": folder})) as retriever:
        yield retriever


async def build_from_file(corpus: Path, name: str, *, mode: IndexMode) -> IndexResult:
    """Builds an index of a file of passages, with a bar on standard error if that is a terminal.

    Raises:
        DataCorrupt: the index took in another number of passages than the file has.
    """
    file = CorpusFile(corpus)
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    async with open_local_indexes() as indexes:
        with Progress(
            *columns, console=console, transient=True, disable=not console.is_terminal
        ) as progress:
            built = await indexes.index_passages(name, _read(file, progress), mode=mode)
    taken = built.added + built.replaced
    if taken != file.passages:
        counts = f"{taken:,} passages, {corpus} has {file.passages:,}"
        raise DataCorrupt(f"the index {name!r} took in {counts}: build it again with --replace")
    return built


async def _read(file: CorpusFile, progress: Progress) -> AsyncIterator[Passage]:
    task = progress.add_task(f"reading {file.path.name}", total=None)
    for passage in file:
        if file.passages % _SHOWN_EVERY == 1:
            progress.update(task, completed=file.read_bytes, total=file.size_bytes)
        yield passage
    progress.update(task, description="building the index", completed=file.size_bytes)
