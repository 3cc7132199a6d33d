"""Where indexes are on disk, and how one appears, is replaced and goes, whole or not at all.

::

    <root>/<name>/manifest.json         names the folder that counts
    <root>/<name>/<folder>/...          its files
    <root>/.draft-<name>-<folder>/      an index being built, locked by its builder

A new index appears by renaming its draft. One is replaced by moving the new folder beside the
old one and renaming the new manifest over the old: readers see the one or the other. What a
killed builder leaves is never an index, and the next one to build, or the next service to start,
takes it away.
"""

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from scaar.core.errors import DataCorrupt, NotFound
from scaar.retriever.conditions import already_exists, changed_meanwhile, not_found
from scaar.retriever.manifest import MANIFEST_FILE, Manifest, damaged, decode_manifest
from scaar.retriever.validation import is_index_name

_LOCK_FILE = ".lock"
_DRAFT, _DROPPED = ".draft-", ".dropped-"


@dataclass(frozen=True, slots=True)
class Draft:
    """An index being built: its files go into ``files``."""

    name: str
    path: Path
    files: Path
    lock: BinaryIO


class IndexFiles:
    """The indexes under one root folder. Processes may share it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def names(self) -> list[str]:
        """The names of the indexes, in order."""
        if not self.root.is_dir():
            return []
        return sorted(
            path.name for path in self.root.iterdir() if is_index_name(path.name) and path.is_dir()
        )

    def read_manifest(self, name: str) -> Manifest:
        """The manifest of an index.

        Raises:
            NotFound: there is no index of that name.
            DataCorrupt: its manifest is missing or damaged.
        """
        place = self.root / name
        while True:
            looked_at = _stamp(place)
            try:
                data = (place / MANIFEST_FILE).read_bytes()
            except FileNotFoundError as error:
                if looked_at is None:
                    raise self._not_found(name) from error
                # Missing from the folder that is there still; one that was dropped or has come
                # since then is looked at anew.
                if looked_at == _stamp(place):
                    raise damaged(name, MANIFEST_FILE, "is missing") from error
            else:
                return decode_manifest(data, name)

    def is_current(self, manifest: Manifest) -> bool:
        """Whether the index of that name is still the one that was read: every build is another."""
        try:
            return self.read_manifest(manifest.name).folder == manifest.folder
        except (NotFound, DataCorrupt):
            return False

    def stamp(self, name: str) -> tuple[int, int] | None:
        """Another value whenever the index is another; None where there is none."""
        return _stamp(self.root / name / MANIFEST_FILE)

    def fingerprint(self, name: str) -> tuple[tuple[str, int, int], ...]:
        """Another value whenever a file of the index is written, put there or taken away."""
        found = []
        # Folders that go while they are walked are passed over.
        for folder, _, names in os.walk(self.root / name):
            for path in (Path(folder, each) for each in names):
                with suppress(FileNotFoundError):
                    status = path.stat()
                    found.append((str(path), status.st_size, status.st_mtime_ns))
        return tuple(sorted(found))

    def exists(self, name: str) -> bool:
        """Whether the name is taken, by a damaged index too."""
        return (self.root / name).is_dir()

    def remove_leftovers(self) -> None:
        """Take away drafts whose builder was killed, and what is left of dropped indexes.

        A builder holds a lock on its draft as long as it lives, in whichever process.
        """
        if self.root.is_dir():
            with self._locked():
                self._take_away_leftovers()

    def open_draft(self, name: str) -> Draft:
        """An empty draft, held until it is committed or discarded."""
        self.root.mkdir(parents=True, exist_ok=True)
        with self._locked():
            self._take_away_leftovers()
            folder = secrets.token_hex(8)
            path = self.root / f"{_DRAFT}{name}-{folder}"
            files = path / folder
            files.mkdir(parents=True)
            lock = (path / _LOCK_FILE).open("wb")
            fcntl.flock(lock, fcntl.LOCK_EX)
        return Draft(name, path, files, lock)

    def commit(self, draft: Draft, manifest: Manifest, *, over: str | None = None) -> None:
        """Makes a draft the index of its name.

        Args:
            draft: What was built, its files on disk already.
            manifest: Its manifest.
            over: The folder of the index that it takes the place of; ``*`` for whichever there
                is, None for none.

        Raises:
            AlreadyExists: there is an index of that name and ``over`` is None.
            Overloaded: the index is no longer the one named by ``over``.
        """
        written = draft.path / MANIFEST_FILE
        written.write_bytes(manifest.encode())
        for path in (written, draft.files, draft.path):
            sync(path)
        place = self.root / draft.name
        with self._locked():
            if not self.exists(draft.name):
                if over not in (None, "*"):
                    raise self._not_found(draft.name)
                (draft.path / _LOCK_FILE).unlink()
                draft.path.rename(place)
            elif over is None:
                raise already_exists(draft.name)
            else:
                self._replace(draft, place, over)
            sync(self.root)
        draft.lock.close()

    def discard(self, draft: Draft) -> None:
        """Takes a draft away."""
        shutil.rmtree(draft.path, ignore_errors=True)
        draft.lock.close()

    def drop(self, name: str) -> None:
        """Takes an index away, damaged or not.

        Raises:
            NotFound: there is none.
        """
        if not self.exists(name):
            raise self._not_found(name)
        with self._locked():
            dropped = self.root / f"{_DROPPED}{name}-{secrets.token_hex(8)}"
            try:
                (self.root / name).rename(dropped)
            except FileNotFoundError as error:
                raise self._not_found(name) from error
            sync(self.root)
        shutil.rmtree(dropped, ignore_errors=True)

    def _replace(self, draft: Draft, place: Path, over: str) -> None:
        if over != "*" and self.read_manifest(draft.name).folder != over:
            raise changed_meanwhile(draft.name)
        draft.files.rename(place / draft.files.name)
        sync(place)
        (draft.path / MANIFEST_FILE).replace(place / MANIFEST_FILE)
        sync(place)
        for path in place.iterdir():
            if path.is_dir() and path.name != draft.files.name:
                shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(draft.path, ignore_errors=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Holds off other writers, in this process and in others. Held for moments only."""
        with (self.root / _LOCK_FILE).open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _take_away_leftovers(self) -> None:
        for path in self.root.iterdir():
            if path.name.startswith(_DROPPED) or (
                path.name.startswith(_DRAFT) and not _is_held(path / _LOCK_FILE)
            ):
                shutil.rmtree(path, ignore_errors=True)

    def _not_found(self, name: str) -> NotFound:
        return not_found(name, self.names())


def sync(path: Path) -> None:
    """Returns when a file's or folder's content is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _stamp(path: Path) -> tuple[int, int] | None:
    """Another value for another file or folder of that path, or a changed one; None for none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_ctime_ns


def _is_held(lock: Path) -> bool:
    with suppress(FileNotFoundError), lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
