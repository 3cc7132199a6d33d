"""Files that are written atomically, and folders locked against concurrent runs."""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from scaar.core.errors import InvalidRequest, NotFound, ScaarError
from scaar.runtime.disk import write_problem

WRITING = ".writing"
"""The suffix of a file that is still being written."""


def write_whole(path: Path, content: bytes) -> None:
    """Replace the content of a file atomically.

    A symbolic link is kept, and its target is written. Pipes and devices are written directly.

    Raises:
        ScaarError: the file cannot be written; its previous content is unchanged.
    """
    try:
        if _is_stream(path):
            path.write_bytes(content)
        else:
            _replace(Path(os.path.realpath(path)), content)
    except OSError as error:
        raise unwritable(path, error, needed_bytes=len(content)) from error


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts to the files of their names in a folder, each atomically; create folders.

    Raises:
        ScaarError: a file cannot be written; its previous content is unchanged.
    """
    for name, text in texts.items():
        make_folder((folder / name).parent)
        write_whole(folder / name, text.encode())


def make_folder(folder: Path) -> None:
    """Create a folder, unless it exists.

    Raises:
        ScaarError: the folder cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error


def read_whole(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        NotFound: the file does not exist or cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from error


def unwritable(path: Path, error: OSError, *, needed_bytes: int | None = None) -> ScaarError:
    """Return the error of a file that cannot be written; ``needed_bytes`` is the failed write."""
    return ScaarError(write_problem(path, error, needed_bytes=needed_bytes))


@contextmanager
def locked(folder: Path, *, field: str = "--out") -> Iterator[None]:
    """Hold an exclusive lock on a folder; it is released however the process ends.

    Raises:
        InvalidRequest: another run holds the lock; names the ``field``.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise InvalidRequest.of(field, f"{folder} cannot be read: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise InvalidRequest.of(field, f"{folder} is being written by another run") from None
    finally:
        os.close(descriptor)


def _is_stream(path: Path) -> bool:
    """Whether something is at a path that is neither a file nor a folder, such as a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _replace(path: Path, content: bytes) -> None:
    writing = path.with_name(path.name + WRITING)
    try:
        with writing.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        writing.replace(path)
    except OSError:
        with suppress(OSError):
            writing.unlink()
        raise
