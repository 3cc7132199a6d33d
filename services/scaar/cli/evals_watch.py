"""How an evaluation of a running evaluator gets on: a bar on a terminal, else plain lines."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from scaar.cli.eval_progress import LINE_EVERY_S
from scaar.cli.eval_table import NAMES, print_table
from scaar.compose import open_evaluator
from scaar.core.errors import BackendUnavailable, DeadlineExceeded, StreamIncomplete
from scaar.core.evaluations import EvaluationProgress, EvaluationState
from scaar.core.ports import Evaluator

AGAIN_S = 1.0
"""How often one that is away is asked again."""
PATIENCE_S = 300.0
"""How long one that answered before may be away."""


async def watch_to_end(evaluation_id: str, target: str) -> None:
    """Shows how it gets on until it has ended, then what it came to.

    Raises:
        Exit: it has not succeeded; with status 1.
    """
    console = Console(stderr=True, highlight=False)
    last: EvaluationProgress | None = None
    async with open_evaluator(target) as evaluator:
        with _shown(console) as show:
            async for last in _progress(evaluator, evaluation_id, told=show.away):
                show(last)
    assert last is not None
    _tell_end(console, last)
    if last.evaluation.state is not EvaluationState.SUCCEEDED:
        raise typer.Exit(1)


async def _progress(
    evaluator: Evaluator, evaluation_id: str, told: Callable[[str], None]
) -> AsyncIterator[EvaluationProgress]:
    """All that is told of it, by calls made one after another.

    Of an evaluator that has answered and is away since, for ``PATIENCE_S`` at most, ``told`` hears.

    Raises:
        BackendUnavailable, StreamIncomplete: it never answered, or is away for longer.
    """
    has_answered, away_since = False, 0.0
    while True:
        try:
            async with aclosing(evaluator.watch_evaluation(evaluation_id)) as progress:
                async for each in progress:
                    has_answered, away_since = True, 0.0
                    yield each
            return
        except DeadlineExceeded:
            # It has lasted as long as a call may.
            continue
        except (BackendUnavailable, StreamIncomplete) as error:
            if not has_answered:
                raise
            if not away_since:
                away_since = time.monotonic()
                told(f"{error.message}; asking again")
            if time.monotonic() - away_since > PATIENCE_S:
                raise
            await asyncio.sleep(AGAIN_S)


@contextmanager
def _shown(console: Console) -> Iterator["Show"]:
    if not console.is_terminal:
        yield _Lines(console)
        return
    columns = (
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()),
        TextColumn("{task.fields[pace]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bar(progress)


class _Bar:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("queued", total=None, pace="")

    def __call__(self, now: EvaluationProgress) -> None:
        self._progress.update(
            self._task,
            description=now.evaluation.state.value,
            total=now.evaluation.wanted,
            completed=now.evaluation.done,
            pace=_pace(now),
        )

    def away(self, why: str) -> None:
        self._progress.update(self._task, pace=why)


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._state: EvaluationState | None = None
        self._told_at = 0.0

    def __call__(self, now: EvaluationProgress) -> None:
        late = time.monotonic() - self._told_at >= LINE_EVERY_S
        if not late and now.evaluation.state is self._state:
            return
        self._state, self._told_at = now.evaluation.state, time.monotonic()
        counts = f"{now.evaluation.done} of {now.evaluation.wanted}"
        told = ", ".join(filter(None, (f"{self._state.value}: {counts}", _pace(now))))
        self._console.print(told, soft_wrap=True, markup=False)

    def away(self, why: str) -> None:
        self._told_at = 0.0
        self._console.print(why, soft_wrap=True, markup=False)


Show = _Bar | _Lines


def _pace(now: EvaluationProgress) -> str:
    parts = [f"{now.rate_per_s:.1f}/s"] if now.evaluation.done else []
    parts += [f"{now.evaluation.failed} failed"] if now.evaluation.failed else []
    if now.time_left_s is not None and now.evaluation.done:
        parts.append(f"about {now.time_left_s:.0f} s left")
    return ", ".join(parts)


def _tell_end(console: Console, last: EvaluationProgress) -> None:
    evaluation = last.evaluation
    measured = [each for each in last.figures if each.mean is not None]
    if measured:
        measure = measured[0].measure
        heading = ("setting", NAMES.get(measure, measure), "N_R", "done", "failed")
        rows = [
            (
                each.setting,
                f"{each.mean or 0:.3f}",
                f"{each.retrievals or 0:.2f}",
                *(str(each.done), str(each.failed)),
            )
            for each in measured
        ]
        print_table([heading, *rows])
    told = f"{evaluation.id} {evaluation.state.value}: {evaluation.done} of {evaluation.wanted}"
    if evaluation.error is not None:
        told = f"{told}: {evaluation.error.reason}: {evaluation.error.message}"
    console.print(told, soft_wrap=True, markup=False)
