"""Steps of concurrent generations, computed together."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from scaar.core.types import Token
from scaar.generator.engines.decoding.continuation import Continuation
from scaar.generator.engines.decoding.decoder import Decoder
from scaar.generator.engines.decoding.row_batch import Row

_Result = list[Token] | None
"""The next tokens of a generation; None: it is computed alone."""
_PATIENCE = 0.25
"""Share of the time of a step for which the next one waits for generations of the last one."""


class StepBatcher:
    """Continues the generations that wait for their next token, up to ``max_batch`` in one run.

    A generation joins after its prompt has been read, and leaves when it ends, is cancelled, or
    does not request its next token in time. A generation that waits alone is computed as without a
    batcher.
    """

    def __init__(
        self,
        decoder: Decoder[Any],
        run: Callable[[Callable[[], Any]], Awaitable[Any]],
        *,
        step_alone: Callable[[Continuation], list[Token]],
        max_batch: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """``run`` runs a function in a thread, ``step_alone`` a step without a batch."""
        self._batch = decoder.open_batch()
        self._run = run
        self._step_alone = step_alone
        self._max_batch = max_batch
        self._clock = clock
        self._waiting = dict[Continuation, asyncio.Future[_Result]]()
        # The generations that are expected to wait again, with their rows; None: computed alone.
        self._expected = dict[Continuation, Row[Any] | None]()
        self._serving: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._step_s = 0.0

    async def step(self, writing: Continuation) -> list[Token]:
        """Return the next tokens of a generation whose prompt has been read."""
        future: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()
        self._waiting[writing] = future
        self._changed.set()
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        try:
            result = await future
        finally:
            self._waiting.pop(writing, None)
        if result is not None:
            return result
        began = self._clock()
        tokens: list[Token] = await self._run(lambda: self._step_alone(writing))
        self._step_s = self._clock() - began
        return tokens

    def leave(self, writing: Continuation) -> None:
        """Remove a generation that needs no further step."""
        self._expected.pop(writing, None)
        self._changed.set()
        if not self._expected and self._serving is None:
            self._batch.leave(self._batch.rows)

    async def _serve(self) -> None:
        try:
            while self._waiting:
                await self._gather()
                chosen = dict(list(self._waiting.items())[: self._max_batch])
                for writing in chosen:
                    del self._waiting[writing]
                # All of them may have been cancelled meanwhile.
                if chosen:
                    await self._compute(chosen)
        finally:
            self._serving = None
        if not self._expected:
            self._batch.leave(self._batch.rows)

    async def _gather(self) -> None:
        """Wait until the generations of the last step have requested the next one."""
        missing = self._expected.keys() - self._waiting.keys()
        alone = any(self._expected[writing] is None for writing in missing)
        end = self._clock() + self._step_s * (_PATIENCE + alone)
        while len(self._waiting) < self._max_batch and missing:
            if (left := end - self._clock()) <= 0:
                break
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left)
            missing = self._expected.keys() - self._waiting.keys()

    async def _compute(self, chosen: Mapping[Continuation, asyncio.Future[_Result]]) -> None:
        """Compute the next token of generations, and give each its result or the error."""
        rows = {writing: self._expected.get(writing) for writing in chosen}
        self._expected = dict.fromkeys(chosen)
        if len(chosen) == 1:
            _resolve(chosen, [None])
            return
        began = self._clock()
        run = self._run(lambda: self._read(rows))
        outcome: list[_Result] | BaseException
        (outcome,) = await asyncio.gather(run, return_exceptions=True)
        if isinstance(outcome, BaseException):
            _resolve(chosen, [outcome] * len(chosen))
            return
        self._step_s = self._clock() - began
        self._expected = {writing: rows[writing] for writing in chosen if writing in self._expected}
        _resolve(chosen, outcome)

    def _read(self, rows: dict[Continuation, Row[Any] | None]) -> list[_Result]:
        """Read the last token of each generation, and set the rows of those that join. Blocks."""
        batch = self._batch
        batch.leave([row for row in batch.rows if row not in rows.values()])
        for writing, row in rows.items():
            if row is None or row not in batch.rows:
                rows[writing] = writing.join(batch)
        of_rows = {row: writing for writing, row in rows.items()}
        found = batch.step(
            [of_rows[row].last_id for row in batch.rows],
            attention=any(writing.attends for writing in rows),
        )
        by_row = dict(zip(batch.rows, found, strict=True))
        return [writing.take(*by_row[row]) for writing, row in rows.items() if row is not None]


def _resolve(
    chosen: Mapping[Continuation, asyncio.Future[_Result]],
    outcomes: Sequence[_Result | BaseException],
) -> None:
    """Give each generation its result or error, unless it was cancelled."""
    for future, outcome in zip(chosen.values(), outcomes, strict=True):
        if future.done():
            continue
        if isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
