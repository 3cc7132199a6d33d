"""Building an index from folders of documents, once or whenever they change."""

import asyncio
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from scaar.cli.index.document_options import DocumentOptions
from scaar.cli.index.tables import megabytes
from scaar.compose import index_place, open_indexes, scaar_home
from scaar.core.errors import ScaarError
from scaar.core.plurals import counted
from scaar.core.ports import IndexKeeper
from scaar.core.types import DenseSettings, IndexMode
from scaar.retriever.documents.files import FoundFile
from scaar.retriever.documents.ledger import LedgerFile
from scaar.retriever.documents.reading import ReadFolder
from scaar.retriever.documents.refresh import RefreshResult, refresh_index, unchanged_index
from scaar.retriever.documents.watching import FolderWatcher

_LEDGERS = "documents"
_KINDS = 12
"""Maximum number of kinds of files that are named."""


class _Stopped(Exception):
    """The reading of documents was stopped."""


def _print(line: str) -> None:
    print(line, flush=True)


class DocumentIndex:
    """An index of documents: reads them, refreshes the index and reports both."""

    def __init__(
        self,
        name: str,
        options: DocumentOptions,
        indexes: IndexKeeper,
        place: str,
        *,
        on_refreshed: Callable[[str], None] = _print,
    ):
        """``on_refreshed`` receives a line after each refresh; by default it is printed."""
        self.name = name
        self._options = options
        self._folders = options.folders()
        self._indexes = indexes
        self._ledger = ledger_of(name, place)
        self._on_refreshed = on_refreshed
        self._reported: tuple[str, ...] = ()

    async def refresh(
        self, *, mode: IndexMode = IndexMode.CREATE, dense: DenseSettings | None = None
    ) -> bool:
        """Bring the index up to date, and return whether every document could be read.

        With the option ``strict``, the index stays as it is if one could not.
        """
        started = time.monotonic()
        files = await self.state()
        state = self._options.digest(files)
        if mode is IndexMode.CREATE and dense is None:
            unchanged = await unchanged_index(self._indexes, self.name, self._ledger, state)
            if unchanged is not None:
                counts = f"{counted(len(files), 'document')}, unchanged"
                self._report(unchanged, counts, started)
                return True
        read = await self._read()
        self._report_files(read)
        if not (read.errors and self._options.strict):
            content = "words and vectors" if dense is not None else "changes"
            count = counted(sum(map(len, read.passages.values())), "passage")
            status = f"indexing {escape(self.name)}: {content} of {count}"
            with Console(stderr=True).status(status):
                result = await refresh_index(
                    self._indexes,
                    self.name,
                    read,
                    self._ledger,
                    mode=mode,
                    dense=dense,
                    state="" if read.errors else state,
                )
            self._report(
                result, f"{counted(read.files, 'document')} read, {_counts(result)}", started
            )
        return not read.errors

    def _report(self, result: RefreshResult, counts: str, started: float) -> None:
        index, seconds = result.index, time.monotonic() - started
        size = f"{counted(index.passages, 'passage')}, {megabytes(index)}"
        text = f"{counts}; {size}, version {index.version[:12]}, in {seconds:.1f} s"
        self._on_refreshed(f"{index.name}: {text}")

    async def watch(self, *, every_s: float, seen: object) -> None:
        """Refresh the index whenever documents differ from the state ``seen``, until cancelled."""

        async def refresh() -> None:
            await self.refresh()

        watcher = FolderWatcher(self.state, refresh, seen=seen)
        last_error = ""
        while True:
            await asyncio.sleep(every_s)
            try:
                if await watcher.poll():
                    last_error = ""
            except ScaarError as error:
                if str(error) != last_error:
                    last_error = str(error)
                    print(f"{self.name}: {error}", file=sys.stderr, flush=True)

    async def state(self) -> tuple[FoundFile, ...]:
        """Return the files with their sizes and times."""
        return await asyncio.to_thread(self._folders.state)

    async def _read(self) -> ReadFolder:
        console = Console(stderr=True)
        stopped = False
        with console.status("reading documents") as status:

            def on_file(file: FoundFile) -> None:
                if stopped:
                    raise _Stopped
                status.update(f"reading {escape(file.source)}")

            try:
                return await asyncio.to_thread(self._folders.read, on_file)
            finally:
                stopped = True
                self._folders.close()

    def _report_files(self, read: ReadFolder) -> None:
        most = read.unsupported.most_common(_KINDS)
        kinds = ", ".join(f"{suffix} ({count:,})" for suffix, count in most)
        if more := len(read.unsupported) - len(most):
            kinds += f" and {more:,} more kinds"
        left_out = (f"{self.name}: left out files of other kinds: {kinds}",) if kinds else ()
        lines = (*(f"{self.name}: {error}" for error in read.errors), *left_out)
        if read.errors:
            consequence = "the index is unchanged" if self._options.strict else "not indexed"
            unread = counted(len(read.errors), "document")
            lines = (*lines, f"{self.name}: {unread} not read: {consequence}")
        if lines != self._reported:
            for line in lines:
                print(line, file=sys.stderr, flush=True)
        self._reported = lines


async def build_from_documents(
    name: str,
    options: DocumentOptions,
    *,
    mode: IndexMode,
    dense: DenseSettings | None,
    encoder: Path | None,
    target: str,
) -> bool:
    """Build or refresh an index, and return whether every document could be read.

    With ``watch_every_s``, the index is refreshed on changes until SIGINT or SIGTERM.
    """
    async with open_indexes(target, encoder=encoder) as indexes:
        documents = DocumentIndex(name, options, indexes, index_place(target))
        if options.watch_every_s is None:
            return await documents.refresh(mode=mode, dense=dense)
        every_s = options.watch_every_s

        async def build_and_watch() -> None:
            seen = await documents.state()
            await documents.refresh(mode=mode, dense=dense)
            print(f"{name}: watching for changes; stop: Ctrl-C", file=sys.stderr, flush=True)
            await documents.watch(every_s=every_s, seen=seen)

        task = asyncio.create_task(build_and_watch())
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        with suppress(asyncio.CancelledError):
            await task
        return True


def ledger_of(name: str, place: str) -> LedgerFile:
    """Return the ledger of an index in a place, which :func:`index_place` returns."""
    return LedgerFile(scaar_home() / _LEDGERS, place, name)


def _counts(result: RefreshResult) -> str:
    kinds = ("added", "changed", "removed", "unchanged")
    return ", ".join(f"{getattr(result, kind):,} {kind}" for kind in kinds)
