"""Files of models: their digests, their disk, and the lock of a download."""

import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.runtime.disk import write_problem

_MAGIC = b"GGUF"
_MARGIN_BYTES = 50_000_000
"""Space that a download leaves free."""


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_gguf(path: Path) -> None:
    """Check that a file begins as GGUF files do.

    Raises:
        InvalidRequest: the file cannot be read, or is not a GGUF file.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise InvalidRequest.of("model", f"{path} cannot be read: {error.strerror}") from error
    if magic != _MAGIC:
        raise InvalidRequest.of("model", f"{path} is not a GGUF file")


def check_free_space(folder: Path, needed_bytes: int) -> None:
    """Check that the disk of a folder has room for a download.

    Raises:
        ScaarError: it has not; names the free space and the space that is needed.
    """
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    needed_bytes += _MARGIN_BYTES
    if shutil.disk_usage(existing).free < needed_bytes:
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        raise ScaarError(write_problem(folder, full, needed_bytes=needed_bytes))


def aside(path: Path) -> Path:
    """Return the place of a corrupt file that was set aside."""
    content = path.resolve()
    return content.with_name(f"{content.name}.corrupt")


def set_aside(path: Path) -> Path:
    """Rename a corrupt file, so that nothing uses it, and return its new place.

    Of a link, as the hub's cache has them, the content is renamed and the link deleted.
    """
    place = path.resolve().replace(aside(path))
    if path.is_symlink():
        path.unlink()
    return place


@contextmanager
def locked(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold an exclusive lock; ``on_wait`` is called if another process holds it.

    The lock is released however the process ends.

    Raises:
        ScaarError: the lock cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    except OSError as error:
        raise ScaarError(write_problem(path, error)) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
