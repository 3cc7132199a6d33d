"""The display of the progress of a run."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class RunProgress(Protocol):
    """Shows the progress of a run."""

    name: str
    """The current pass."""

    def watch(self, total: int, before: int) -> AbstractContextManager[Callable[[object], None]]:
        """Show the records that are stored in the block; ``before`` of ``total`` exist."""
        ...

    def say(self, text: str) -> None:
        """Show a line of text."""
        ...


class NoProgress:
    """A :class:`RunProgress` that shows nothing."""

    name = ""

    @contextmanager
    def watch(self, total: int, before: int) -> Iterator[Callable[[object], None]]:
        yield lambda _: None

    def say(self, text: str) -> None:
        pass
