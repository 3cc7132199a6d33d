"""Progress in a notebook or on a terminal, as a bar of tqdm."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class BarProgress:
    """Shows a bar if tqdm is installed; see :class:`~scaar.evaluator.run.RunProgress`."""

    def __init__(self, *, enabled: bool) -> None:
        self.name = "evaluating"
        self._enabled = enabled

    @contextmanager
    def watch(self, total: int, before: int) -> Iterator[Callable[[object], None]]:
        """Show the predictions that are stored in the block; ``before`` of ``total`` exist."""
        try:
            from tqdm.auto import tqdm
        except ModuleNotFoundError:
            yield lambda _: None
            return
        with tqdm(
            total=total, initial=before, desc=self.name, unit=" answers", disable=not self._enabled
        ) as bar:

            def count(_: object) -> None:
                bar.update()

            yield count

    def say(self, text: str) -> None:
        """Print a line."""
        if self._enabled:
            print(text)
