"""Indexes held open, and opened again when they have changed on disk."""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable

from scaar.core.errors import DataCorrupt
from scaar.retriever.index_files import IndexFiles
from scaar.retriever.loaded_index import check_files, open_index
from scaar.retriever.stored_passages import StoredPassages

Fingerprint = tuple[tuple[str, int, int], ...]


class IndexCache:
    """Gives indexes as they are on disk now. For several threads at once.

    An index that is replaced or dropped while it is searched stays readable to whom it was given.
    A damaged one is read once, and refused as it was until its files change.

    With ``checksums`` an index is read whole before it is given for the first time; after
    :meth:`check_later` it is given at once, and compared by a later :meth:`verify`.
    """

    def __init__(self, files: IndexFiles, *, capacity: int, checksums: bool) -> None:
        self._files = files
        self._capacity = capacity
        self._checksums = checksums
        self._open: OrderedDict[str, tuple[tuple[int, int], StoredPassages]] = OrderedDict()
        self._later: Callable[[str], None] | None = None
        self._verified: dict[str, Fingerprint] = {}
        self._damaged: dict[str, tuple[Fingerprint, DataCorrupt]] = {}
        self._guard = threading.Lock()
        self._opening: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def get(self, name: str) -> StoredPassages:
        """The index of that name.

        Raises:
            NotFound: there is none.
            DataCorrupt: it is damaged.
        """
        if found := self._current(name):
            return found
        if self._files.stamp(name) is None:
            self._files.read_manifest(name)  # says what is wrong
        with self._guard:
            opening = self._opening[name]
        with opening:
            return self._current(name) or self._load(name)

    def get_verified(self, name: str) -> StoredPassages:
        """The index of that name, its checksums compared if they are to be: to build another of it.

        Raises:
            NotFound, DataCorrupt: as :meth:`get`.
        """
        index = self.get(name)
        if self._checksums and self._verified.get(name) != self._files.fingerprint(name):
            self.verify(name)
            index = self.get(name)
        return index

    def check_later(self, opened: Callable[[str], None] | None) -> None:
        """Open indexes without comparing checksums, and report each that was; None ends that."""
        self._later = opened

    def verify(self, name: str, abandoned: threading.Event | None = None) -> None:
        """Compare the checksums of an index; one that is damaged is refused from then on.

        Raises:
            NotFound: there is none.
            DataCorrupt: it is damaged.
            ReadingAbandoned: the event was set meanwhile.
        """
        while True:
            self.refuse_damaged(name)
            fingerprint = self._files.fingerprint(name)
            if self._verified.get(name) == fingerprint:
                return
            manifest = self._files.read_manifest(name)
            folder = self._files.root / name / manifest.folder
            try:
                check_files(folder, manifest, checksums=True, abandoned=abandoned)
            except DataCorrupt as error:
                # Replaced or dropped under our hands, its files went while they were read.
                if self._files.is_current(manifest):
                    self._refuse(name, fingerprint, error)
                    raise
            else:
                self._verified[name] = fingerprint
                return

    def refuse_damaged(self, name: str) -> None:
        """Passes an index that was not found damaged, as its files are now.

        Raises:
            DataCorrupt: it was.
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
            held = self._open.get(name)
            if held is None:
                return None
            if held[0] != stamp:
                del self._open[name]
                return None
            self._open.move_to_end(name)
            return held[1]

    def _load(self, name: str) -> StoredPassages:
        while True:
            self.refuse_damaged(name)
            stamp, fingerprint = self._files.stamp(name), self._files.fingerprint(name)
            manifest = None
            try:
                manifest = self._files.read_manifest(name)
                folder = self._files.root / name / manifest.folder
                now = self._checksums and self._later is None
                index = open_index(folder, manifest, checksums=now)
            except (DataCorrupt, FileNotFoundError) as error:
                # Replaced or dropped under our hands, its files went while they were read: read
                # what there is now.
                if manifest is None or self._files.is_current(manifest):
                    if isinstance(error, DataCorrupt):
                        self._refuse(name, fingerprint, error)
                    raise
            else:
                if now:
                    self._verified[name] = fingerprint
                elif self._checksums and self._later is not None:
                    self._later(name)
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
