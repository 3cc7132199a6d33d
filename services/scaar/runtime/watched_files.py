"""What files hold, read again when they change: certificates, identities, tokens."""

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
    """The value that ``read`` makes of files, as they were when they last made one.

    Files that are being replaced, one after the other, may not fit for a moment: what was read
    before stands until they do. Any thread may ask.

    Raises:
        InvalidRequest, NotFound: the first reading's.
    """

    def __init__(self, paths: Sequence[Path], read: Callable[[], _Value]) -> None:
        self._paths = tuple(paths)
        self._read = read
        self._lock = Lock()
        self._stamp = self._stamped()
        self._value = read()

    def current(self) -> _Value:
        """The value. Looks at the files' times, and blocks for a reading where one has changed."""
        with self._lock:
            # Again where they change while they are read: one might be of before, another of after.
            while (stamp := self._stamped()) != self._stamp:
                self._stamp = stamp
                self._read_again()
            return self._value

    def _read_again(self) -> None:
        try:
            self._value = self._read()
        except (InvalidRequest, NotFound) as error:
            _LOGGER.warning("%s; what was read before stands", error.message)
        else:
            _LOGGER.info("read again: %s", ", ".join(str(path) for path in self._paths))

    def _stamped(self) -> _Stamp:
        return tuple(_stamp_of(path) for path in self._paths)


def _stamp_of(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
