"""A file that only grows, by whole lines; a line that was cut off is none."""

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from scaar.core.errors import NotFound, ScaarError
from scaar.evaluator.store.files import read_whole, unwritable


class LineLog:
    """The open file; what is appended is kept when :meth:`append` returns."""

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
        """Adds whole lines.

        Raises:
            ScaarError: there is no room for them; the lines before them are whole.
        """
        left = memoryview(lines)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            with suppress(ScaarError):
                self._cut_off()
            raise unwritable(self._path, error) from error
        self._whole += len(lines)

    def _cut_off(self) -> None:
        """Takes off what follows the last whole line."""
        try:
            os.ftruncate(self._file, self._whole)
        except OSError as error:
            raise unwritable(self._path, error) from error


def whole_lines(path: Path) -> bytes:
    """The lines of a file that are whole; none where there is no file."""
    try:
        content = read_whole(path)
    except NotFound:
        if path.exists():
            raise
        return b""
    return content[: content.rfind(b"\n") + 1]
