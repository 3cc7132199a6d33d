"""The indexes of this machine or its server, and a file of passages put into one."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from scaar.compose import open_retriever as open_retriever_at
from scaar.compose import scaar_home
from scaar.core.errors import DataCorrupt, NotFound
from scaar.core.ports import Retriever
from scaar.core.types import DenseSettings, IndexMode, IndexResult, Passage
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


async def build_from_file(
    file: CorpusFile,
    name: str,
    *,
    mode: IndexMode,
    fields: Sequence[str],
    target: str,
    dense: DenseSettings | None = None,
    encoder: Path | None = None,
) -> IndexResult:
    """Builds an index of a file of passages, with a bar on standard error if that is a terminal.

    ``encoder`` is the folder of the encoder of a retriever of this process; None for that of the
    settings.

    Raises:
        DataCorrupt: the index took in another number of passages than the file has.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    async with open_retriever_at(target, encoder=encoder) as indexes:
        file.declared = await _declared(indexes, name, mode, fields)
        with Progress(
            *columns, console=console, transient=True, disable=not console.is_terminal
        ) as progress:
            built = await indexes.index_passages(
                name,
                _read(file, progress),
                mode=mode,
                metadata_fields=fields,
                dense=dense,
            )
    taken = built.added + built.replaced
    if taken != file.passages:
        counts = f"{taken:,} passages, {file.path} has {file.passages:,}"
        raise DataCorrupt(f"the index {name!r} took in {counts}: build it again with --replace")
    return built


async def _declared(
    indexes: Retriever, name: str, mode: IndexMode, fields: Sequence[str]
) -> Sequence[str]:
    """The fields that the passages may carry: those of the index that they are put into."""
    if mode is IndexMode.UPSERT:
        with suppress(NotFound):
            return (await indexes.describe_index(name)).metadata_fields
    return fields


async def _read(file: CorpusFile, progress: Progress) -> AsyncIterator[Passage]:
    task = progress.add_task(f"reading {file.path.name}", total=None)
    for passage in file:
        if file.passages % _SHOWN_EVERY == 1:
            progress.update(task, completed=file.read_bytes, total=file.size_bytes)
        yield passage
    progress.update(task, description="building the index", completed=file.size_bytes)
