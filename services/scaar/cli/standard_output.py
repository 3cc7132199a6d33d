"""Standard output whose write errors differ from those of other files."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO


class OutputFailed(Exception):
    """Standard output cannot be written.

    It is no OSError, because commands catch these for their files.
    """


class OutputClosed(OutputFailed):
    """The reader of standard output closed it, as ``head`` does."""


class CheckedOutput:
    """A text stream that raises :class:`OutputFailed` where it cannot be written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text, and return its length."""
        with _checked():
            return self._stream.write(text)

    def flush(self) -> None:
        """Write what is buffered."""
        with _checked():
            self._stream.flush()


@contextmanager
def _checked() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosed("standard output: closed by its reader") from error
    except OSError as error:
        raise OutputFailed(f"standard output: {error.strerror or error}") from error
