"""Values read from files and reloaded on change: certificates, identities, tokens."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from scaar.core.errors import InvalidRequest, NotFound

_LOGGER = logging.getLogger(__name__)
_Value = TypeVar("_Value")
_Stamp = tuple[tuple[int, int, int, int] | None, ...]


class WatchedFiles(Generic[_Value]):
    """The value that ``read`` returns for the current contents of files. Thread-safe.

    While files are being replaced one after the other, ``read`` may fail: the previous value is
    kept until it succeeds.

    Raises:
        InvalidRequest, NotFound: the first read failed.
    """

    def __init__(self, paths: Sequence[Path], read: Callable[[], _Value]) -> None:
        self._paths = tuple(paths)
        self._read = read
        self._lock = Lock()
        self._stamp = self._stamped()
        self._value = read()

    def current(self) -> _Value:
        """Return the current value. Blocks to reload if a file has changed."""
        with self._lock:
            # Repeat if a file changed during the read, so that all files are of one version.
            while (stamp := self._stamped()) != self._stamp:
                self._stamp = stamp
                self._read_again()
            return self._value

    def _read_again(self) -> None:
        try:
            self._value = self._read()
        except (InvalidRequest, NotFound) as error:
            _LOGGER.warning("%s; the previous contents are kept", error.message)
        else:
            _LOGGER.info("reloaded: %s", ", ".join(str(path) for path in self._paths))

    def _stamped(self) -> _Stamp:
        return tuple(_stamp_of(path) for path in self._paths)


def _stamp_of(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
