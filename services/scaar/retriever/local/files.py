"""Folders of indexes on disk, which are created, replaced and dropped atomically.

::

    <root>/<name>/manifest.json         names the current folder
    <root>/<name>/<folder>/...          its files
    <root>/.pending-<name>-<folder>/    an index being built, locked by its builder

A new index appears when its pending folder is renamed. To replace an index, its new folder is moved
beside the old one, and the new manifest is renamed over the old one, so that readers see one or the
other. The leftover of a killed builder is never an index; the next build, or the next start of the
service, deletes it.
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
from scaar.core.validation import is_index_name
from scaar.retriever.conditions import already_exists, changed_concurrently, not_found
from scaar.retriever.local.manifest import MANIFEST_FILE, Manifest, damaged, decode_manifest

_LOCK_FILE = ".lock"
_PENDING, _DROPPED = ".pending-", ".dropped-"


@dataclass(frozen=True, slots=True)
class PendingIndex:
    """An index being built. Its files go into the folder ``files``."""

    name: str
    path: Path
    files: Path
    lock: BinaryIO


class IndexFiles:
    """The indexes under one root folder, which several processes may share."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def names(self) -> list[str]:
        """Return the names of the indexes, sorted."""
        if not self.root.is_dir():
            return []
        return sorted(
            path.name for path in self.root.iterdir() if is_index_name(path.name) and path.is_dir()
        )

    def read_manifest(self, name: str) -> Manifest:
        """Return the manifest of an index.

        Raises:
            NotFound: there is no such index.
            DataCorrupt: its manifest is missing or damaged.
        """
        place = self.root / name
        while True:
            before = _stamp(place)
            try:
                data = (place / MANIFEST_FILE).read_bytes()
            except FileNotFoundError as error:
                if before is None:
                    raise self._not_found(name) from error
                # The manifest is missing if the folder is unchanged. Otherwise the index was
                # dropped or created meanwhile: read again.
                if before == _stamp(place):
                    raise damaged(name, MANIFEST_FILE, "is missing") from error
            else:
                return decode_manifest(data, name)

    def is_current(self, manifest: Manifest) -> bool:
        """Return whether the index of that name is still the same build."""
        try:
            return self.read_manifest(manifest.name).folder == manifest.folder
        except (NotFound, DataCorrupt):
            return False

    def stamp(self, name: str) -> tuple[int, int] | None:
        """Return a value that changes with every build of the index, None for no index."""
        return _stamp(self.root / name / MANIFEST_FILE)

    def fingerprint(self, name: str) -> tuple[tuple[str, int, int], ...]:
        """Return a value that changes whenever a file of the index is written, added or deleted."""
        found = []
        # Folders that are deleted meanwhile are skipped.
        for folder, _, names in os.walk(self.root / name):
            for path in (Path(folder, each) for each in names):
                with suppress(FileNotFoundError):
                    status = path.stat()
                    found.append((str(path), status.st_size, status.st_mtime_ns))
        return tuple(sorted(found))

    def exists(self, name: str) -> bool:
        """Return whether there is an index of that name, damaged or not."""
        return (self.root / name).is_dir()

    def remove_leftovers(self) -> None:
        """Delete pending indexes whose builder was killed, and remains of dropped indexes.

        A live builder, in any process, holds a lock on its pending index.
        """
        if self.root.is_dir():
            with self._locked():
                self._delete_leftovers()

    def open_pending(self, name: str) -> PendingIndex:
        """Create an empty pending index, locked until it is committed or discarded."""
        self.root.mkdir(parents=True, exist_ok=True)
        with self._locked():
            self._delete_leftovers()
            folder = secrets.token_hex(8)
            path = self.root / f"{_PENDING}{name}-{folder}"
            files = path / folder
            files.mkdir(parents=True)
            lock = (path / _LOCK_FILE).open("wb")
            fcntl.flock(lock, fcntl.LOCK_EX)
        return PendingIndex(name, path, files, lock)

    def commit(self, pending: PendingIndex, manifest: Manifest, *, over: str | None = None) -> None:
        """Publish a pending index under its name.

        Args:
            pending: The built index, whose files are on disk already.
            manifest: Its manifest.
            over: The folder of the index to replace; ``*`` for the current one, if any, None to
                replace nothing.

        Raises:
            AlreadyExists: the index exists, and ``over`` is None.
            Overloaded: the current index is not the one named by ``over``.
        """
        written = pending.path / MANIFEST_FILE
        written.write_bytes(manifest.encode())
        for path in (written, pending.files, pending.path):
            sync(path)
        place = self.root / pending.name
        with self._locked():
            if not self.exists(pending.name):
                if over not in (None, "*"):
                    raise self._not_found(pending.name)
                (pending.path / _LOCK_FILE).unlink()
                pending.path.rename(place)
            elif over is None:
                raise already_exists(pending.name)
            else:
                self._replace(pending, place, over)
            sync(self.root)
        pending.lock.close()

    def discard(self, pending: PendingIndex) -> None:
        """Delete a pending index."""
        shutil.rmtree(pending.path, ignore_errors=True)
        pending.lock.close()

    def drop(self, name: str) -> None:
        """Delete an index, damaged or not.

        Raises:
            NotFound: there is no such index.
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

    def _replace(self, pending: PendingIndex, place: Path, over: str) -> None:
        if over != "*" and self.read_manifest(pending.name).folder != over:
            raise changed_concurrently(pending.name)
        pending.files.rename(place / pending.files.name)
        sync(place)
        (pending.path / MANIFEST_FILE).replace(place / MANIFEST_FILE)
        sync(place)
        for path in place.iterdir():
            if path.is_dir() and path.name != pending.files.name:
                shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(pending.path, ignore_errors=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Exclude other writers, in this process and in others. Held for moments only."""
        with (self.root / _LOCK_FILE).open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _delete_leftovers(self) -> None:
        for path in self.root.iterdir():
            if path.name.startswith(_DROPPED) or (
                path.name.startswith(_PENDING) and not _is_locked(path / _LOCK_FILE)
            ):
                shutil.rmtree(path, ignore_errors=True)

    def _not_found(self, name: str) -> NotFound:
        return not_found(name, self.names())


def sync(path: Path) -> None:
    """Flush the content of a file or folder to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return a value that changes when the file or folder is replaced or changed; None if none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_ctime_ns


def _is_locked(lock: Path) -> bool:
    with suppress(FileNotFoundError), lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
