"""Progress of an evaluation on a service: a bar on a terminal, elsewhere plain lines."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from scaar.cli.eval.progress import LINE_EVERY_S
from scaar.cli.eval.table import NAMES
from scaar.cli.tables import Column, Table, TableFormat, number, print_table
from scaar.core.errors import BackendUnavailable, DeadlineExceeded, StreamIncomplete
from scaar.core.evaluations import EvaluationProgress, EvaluationState
from scaar.core.ports import Evaluator

AGAIN_S = 1.0
"""Seconds between calls to an evaluator that does not answer."""
PATIENCE_S = 300.0
"""Maximum time in seconds without an answer of an evaluator that answered before."""


async def watch_to_end(
    evaluator: Evaluator, evaluation_id: str, output: TableFormat | None
) -> None:
    """Show the progress of an evaluation until it ends, then its results.

    Raises:
        Exit: the evaluation did not succeed; the status is 1.
    """
    console = Console(stderr=True, highlight=False)
    last: EvaluationProgress | None = None
    with _shown(console) as show:
        async for last in _progress(evaluator, evaluation_id, on_interruption=show.interrupted):
            show(last)
    assert last is not None
    _print_end(console, last, output)
    if last.evaluation.state is not EvaluationState.SUCCEEDED:
        raise typer.Exit(1)


async def _progress(
    evaluator: Evaluator, evaluation_id: str, on_interruption: Callable[[str], None]
) -> AsyncIterator[EvaluationProgress]:
    """Yield the progress of an evaluation, over several calls if needed.

    ``on_interruption`` is called when an evaluator that answered before stops answering; calls are
    repeated for at most ``PATIENCE_S``.

    Raises:
        BackendUnavailable, StreamIncomplete: the evaluator never answered, or not for too long.
    """
    has_answered, silent_since = False, 0.0
    while True:
        try:
            async with aclosing(evaluator.watch_evaluation(evaluation_id)) as progress:
                async for each in progress:
                    has_answered, silent_since = True, 0.0
                    yield each
            return
        except DeadlineExceeded:
            # The call reached its deadline.
            continue
        except (BackendUnavailable, StreamIncomplete) as error:
            if not has_answered:
                raise
            if not silent_since:
                silent_since = time.monotonic()
                on_interruption(f"{error.message}; trying again")
            if time.monotonic() - silent_since > PATIENCE_S:
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
        name, done, total = _stage(now)
        self._progress.update(
            self._task, description=name, total=total, completed=done, pace=_pace(now)
        )

    def interrupted(self, why: str) -> None:
        self._progress.update(self._task, pace=why)


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._state: EvaluationState | None = None
        self._printed_at = 0.0

    def __call__(self, now: EvaluationProgress) -> None:
        late = time.monotonic() - self._printed_at >= LINE_EVERY_S
        if not late and now.evaluation.state is self._state:
            return
        self._state, self._printed_at = now.evaluation.state, time.monotonic()
        name, done, total = _stage(now)
        line = ", ".join(filter(None, (f"{name}: {done} of {total}", _pace(now))))
        self._console.print(line, soft_wrap=True, markup=False)

    def interrupted(self, why: str) -> None:
        self._printed_at = 0.0
        self._console.print(why, soft_wrap=True, markup=False)


Show = _Bar | _Lines


def _stage(now: EvaluationProgress) -> tuple[str, int, int]:
    """The name of what is running now, and its stored and total predictions."""
    evaluation = now.evaluation
    if evaluation.state is EvaluationState.QUEUED and (first_pass := evaluation.first_pass):
        return "first pass", first_pass.done, first_pass.total
    return evaluation.state.value, evaluation.done, evaluation.total


def _pace(now: EvaluationProgress) -> str:
    parts = [f"{now.rate_per_s:.1f}/s"] if now.evaluation.done else []
    parts += [f"{now.evaluation.failed} failed"] if now.evaluation.failed else []
    if now.remaining_s is not None and now.evaluation.done:
        parts.append(f"about {now.remaining_s:.0f} s remaining")
    return ", ".join(parts)


def _print_end(console: Console, last: EvaluationProgress, output: TableFormat | None) -> None:
    evaluation = last.evaluation
    for each in evaluation.left_out:
        text = f"left out, because the model cannot serve it: {each.setting}"
        console.print(f"{text} (lacking: {each.missing})", soft_wrap=True, markup=False)
    measured = [each for each in last.figures if each.mean is not None]
    if measured:
        measure = measured[0].measure
        columns = (
            Column("setting", right=False),
            Column(measure, NAMES.get(measure, measure), number(3)),
            Column("retrievals", "N_R", number(2)),
            *(Column("done"), Column("failed")),
        )
        rows = [
            (each.setting, each.mean, each.retrievals, each.done, each.failed) for each in measured
        ]
        print_table(Table(columns, rows), output)
    line = f"{evaluation.id} {evaluation.state.value}: {evaluation.done} of {evaluation.total}"
    if evaluation.error is not None:
        line = f"{line}: {evaluation.error.reason}: {evaluation.error.message}"
    console.print(line, soft_wrap=True, markup=False)
