"""An append-only file of lines; an incomplete last line is ignored and removed."""

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from scaar.core.errors import NotFound, ScaarError
from scaar.evaluator.store.files import read_whole, unwritable


class LineLog:
    """The open file; lines are written when :meth:`append` returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError as error:
            raise unwritable(path, error) from error
        self._whole = len(whole_lines(path))
        self._cut_off()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def append(self, lines: bytes) -> None:
        """Append complete lines.

        Raises:
            ScaarError: the lines cannot be written; earlier lines are intact.
        """
        remaining = memoryview(lines)
        try:
            while remaining:
                remaining = remaining[os.write(self._file, remaining) :]
        except OSError as error:
            with suppress(ScaarError):
                self._cut_off()
            raise unwritable(self._path, error, needed_bytes=len(lines)) from error
        self._whole += len(lines)

    def _cut_off(self) -> None:
        """Truncate the file behind its last complete line."""
        try:
            os.ftruncate(self._file, self._whole)
        except OSError as error:
            raise unwritable(self._path, error) from error


def whole_lines(path: Path) -> bytes:
    """Return the complete lines of a file; empty if the file does not exist."""
    try:
        content = read_whole(path)
    except NotFound:
        if path.exists():
            raise
        return b""
    return content[: content.rfind(b"\n") + 1]
