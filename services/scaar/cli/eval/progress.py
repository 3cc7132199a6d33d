"""Progress of an evaluation: a bar on a terminal, elsewhere a line every few seconds."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from scaar.evaluator.records import Prediction

LINE_EVERY_S = 10.0
"""Seconds between two plain lines."""
_RATE_OVER = 200
"""Number of recent predictions from which the rate is computed."""


class EvaluationProgress:
    """Shows the progress of one folder after another: ``done`` of ``total``; ``what`` is made."""

    def __init__(
        self,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        what: str = "predictions",
        name: str = "evaluating",
    ) -> None:
        """The default console is standard error."""
        self._console = console or Console(stderr=True, highlight=False)
        self._clock = clock
        self._times: deque[float] = deque(maxlen=_RATE_OVER)
        self.name = name
        self.what = what
        self.total = 0
        self.done = 0
        self.failed = 0

    @contextmanager
    def watch(self, total: int, before: int) -> Iterator[Callable[[object], None]]:
        """Show the predictions that are made in the block."""
        self.total, self.done, self.failed = total, before, 0
        self._times.clear()
        self._times.append(self._clock())
        if before:
            self.say(f"{self.name}: {before} of {total} {self.what} exist, resuming")
        if self._console.is_terminal:
            with self._bar() as count:
                yield count
        else:
            with self._lines() as count:
                yield count

    @contextmanager
    def _bar(self) -> Iterator[Callable[[object], None]]:
        columns = (
            *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()),
            *(TextColumn("{task.fields[rate]}"), TimeRemainingColumn(elapsed_when_finished=True)),
        )
        with Progress(*columns, console=self._console, transient=True) as progress:
            task = progress.add_task(
                self.name, total=self.total, completed=self.done, rate=self._rate_text()
            )

            def on_made(made: object) -> None:
                self._count(made)
                progress.update(task, completed=self.done, rate=self._rate_text())

            yield on_made

    @contextmanager
    def _lines(self) -> Iterator[Callable[[object], None]]:
        last = self._clock()

        def on_made(made: object) -> None:
            nonlocal last
            self._count(made)
            if self._clock() - last >= LINE_EVERY_S:
                last = self._clock()
                remaining_s = (self.total - self.done) / self._rate()
                so_far = f"{self.name}: {self.done} of {self.total}, {self._rate_text()}"
                self.say(f"{so_far}, about {remaining_s:.0f} s remaining")

        yield on_made

    def _count(self, made: object) -> None:
        self._times.append(self._clock())
        self.done += 1
        self.failed += isinstance(made, Prediction) and made.failure is not None

    def _rate(self) -> float:
        took = self._times[-1] - self._times[0]
        return (len(self._times) - 1) / took if took > 0 else float("inf")

    def _rate_text(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self._rate():.1f}/s{failed}" if len(self._times) > 1 else failed.lstrip(", ")

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text, soft_wrap=True, markup=False)
