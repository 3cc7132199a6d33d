"""Cache of open indexes, which are reopened when they change on disk."""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable

from scaar.core.errors import DataCorrupt
from scaar.retriever.local.files import IndexFiles
from scaar.retriever.local.loaded_index import check_files, open_index
from scaar.retriever.local.stored_passages import StoredPassages

Fingerprint = tuple[tuple[str, int, int], ...]


class IndexCache:
    """Returns indexes in their current state on disk. Thread-safe.

    A caller can continue to read an index that is replaced or dropped meanwhile. A damaged index is
    read once, and rejected with the same error until its files change.

    With ``checksums``, an index is read completely before it is returned for the first time. After
    :meth:`check_later`, it is returned immediately, and verified by a later :meth:`verify`.
    """

    def __init__(self, files: IndexFiles, *, capacity: int, checksums: bool) -> None:
        self._files = files
        self._capacity = capacity
        self._checksums = checksums
        self._open: OrderedDict[str, tuple[tuple[int, int], StoredPassages]] = OrderedDict()
        self._on_opened: Callable[[str], None] | None = None
        self._verified: dict[str, Fingerprint] = {}
        self._damaged: dict[str, tuple[Fingerprint, DataCorrupt]] = {}
        self._guard = threading.Lock()
        self._opening: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def get(self, name: str) -> StoredPassages:
        """Return the index of that name.

        Raises:
            NotFound: there is no such index.
            DataCorrupt: the index is damaged.
        """
        if found := self._current(name):
            return found
        if self._files.stamp(name) is None:
            self._files.read_manifest(name)  # raises the right error
        with self._guard:
            opening = self._opening[name]
        with opening:
            return self._current(name) or self._load(name)

    def get_verified(self, name: str) -> StoredPassages:
        """Return an index as the base of another, with its checksums verified if enabled.

        Raises:
            NotFound, DataCorrupt: as :meth:`get`.
        """
        index = self.get(name)
        if self._checksums and self._verified.get(name) != self._files.fingerprint(name):
            self.verify(name)
            index = self.get(name)
        return index

    def check_later(self, on_opened: Callable[[str], None] | None) -> None:
        """Open indexes without verifying checksums, and report each opened one. None ends this."""
        self._on_opened = on_opened

    def verify(self, name: str, cancelled: threading.Event | None = None) -> None:
        """Verify the checksums of an index. A damaged index is rejected from then on.

        Raises:
            NotFound: there is no such index.
            DataCorrupt: the index is damaged.
            ReadCancelled: the event was set meanwhile.
        """
        while True:
            self.refuse_damaged(name)
            fingerprint = self._files.fingerprint(name)
            if self._verified.get(name) == fingerprint:
                return
            manifest = self._files.read_manifest(name)
            folder = self._files.root / name / manifest.folder
            try:
                check_files(folder, manifest, checksums=True, cancelled=cancelled)
            except DataCorrupt as error:
                # If the index was replaced or dropped while it was read, read the current one.
                if self._files.is_current(manifest):
                    self._refuse(name, fingerprint, error)
                    raise
            else:
                self._verified[name] = fingerprint
                return

    def refuse_damaged(self, name: str) -> None:
        """Reject an index that was found damaged and whose files have not changed since.

        Raises:
            DataCorrupt: the index is damaged.
        """
        fingerprint, error = self._damaged.get(name, (None, None))
        if error is None:
            return
        if fingerprint == self._files.fingerprint(name):
            raise DataCorrupt(error.message, **error.metadata)
        self._damaged.pop(name, None)

    def _current(self, name: str) -> StoredPassages | None:
        stamp = self._files.stamp(name)
        with self._guard:
            entry = self._open.get(name)
            if entry is None:
                return None
            if entry[0] != stamp:
                del self._open[name]
                return None
            self._open.move_to_end(name)
            return entry[1]

    def _load(self, name: str) -> StoredPassages:
        while True:
            self.refuse_damaged(name)
            stamp, fingerprint = self._files.stamp(name), self._files.fingerprint(name)
            manifest = None
            try:
                manifest = self._files.read_manifest(name)
                folder = self._files.root / name / manifest.folder
                # Another thread may end the later checks at any time.
                on_opened = self._on_opened
                now = self._checksums and on_opened is None
                index = open_index(folder, manifest, checksums=now)
            except (DataCorrupt, FileNotFoundError) as error:
                # If the index was replaced or dropped while it was read, read the current one.
                if manifest is None or self._files.is_current(manifest):
                    if isinstance(error, DataCorrupt):
                        self._refuse(name, fingerprint, error)
                    raise
            else:
                if now:
                    self._verified[name] = fingerprint
                elif self._checksums and on_opened is not None:
                    on_opened(name)
                if stamp is not None:
                    self._keep(name, stamp, index)
                return index

    def _refuse(self, name: str, fingerprint: Fingerprint, error: DataCorrupt) -> None:
        self._damaged[name] = (fingerprint, error.with_traceback(None))
        with self._guard:
            self._open.pop(name, None)

    def _keep(self, name: str, stamp: tuple[int, int], index: StoredPassages) -> None:
        with self._guard:
            self._open[name] = (stamp, index)
            while len(self._open) > self._capacity:
                self._open.popitem(last=False)
