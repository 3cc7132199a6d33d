"""Building an index from a file of passages."""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from scaar.compose import open_indexes
from scaar.core.errors import DataCorrupt, NotFound
from scaar.core.plurals import counted
from scaar.core.ports import IndexKeeper
from scaar.core.types import DenseSettings, IndexMode, IndexResult, Passage
from scaar.retriever.corpus.corpus import CorpusFile

_SHOWN_EVERY = 100


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
    """Build an index from a file of passages, with a progress bar on a terminal.

    ``encoder`` is the encoder's folder for a retriever of this process; None takes it from the
    settings.

    Raises:
        DataCorrupt: the index has a different number of passages than the file.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    async with open_indexes(target, encoder=encoder) as indexes:
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
        counts = f"{counted(taken, 'passage')}, {file.path} has {file.passages:,}"
        raise DataCorrupt(f"the index {name!r} received {counts}: build it again with --replace")
    return built


async def _declared(
    indexes: IndexKeeper, name: str, mode: IndexMode, fields: Sequence[str]
) -> Sequence[str]:
    """Return the metadata fields that passages may have: those of an existing index."""
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
