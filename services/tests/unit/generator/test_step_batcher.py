"""Steps of concurrent generations, some of which leave."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from scaar.generator.engines.decoding.step_batcher import StepBatcher


class Batch:
    """Rows without a model; ``sizes`` has the number of rows of each step."""

    def __init__(self) -> None:
        self.rows: list[object] = []
        self.sizes: list[int] = []
        self.emptied = asyncio.Event()

    def open_batch(self) -> "Batch":
        return self

    def leave(self, rows: Sequence[object]) -> None:
        self.rows = [row for row in self.rows if row not in rows]
        if rows and not self.rows:
            self.emptied.set()

    def step(self, tokens: Sequence[int], *, attention: bool) -> list[tuple[int, None]]:
        self.sizes.append(len(tokens))
        return [(token, None) for token in tokens]


class Generation:
    """A generation that has read its prompt."""

    last_id, attends = 7, False

    def join(self, batch: Batch) -> object:
        row = object()
        batch.rows.append(row)
        return row

    def take(self, logits: int, weights: None) -> list[int]:
        return [logits]


async def test_nothing_is_computed_if_every_waiting_generation_leaves() -> None:
    batch: Any = Batch()
    time_s = 0.0

    async def run(function: Callable[[], Any]) -> Any:
        nonlocal time_s
        # A long step, so that the next one waits for the generations of the last one.
        time_s += 60.0
        return function()

    batcher = StepBatcher(batch, run, step_alone=lambda _: [], max_batch=8, clock=lambda: time_s)
    first: Any = Generation()
    second: Any = Generation()
    assert await asyncio.gather(batcher.step(first), batcher.step(second)) == [[7], [7]]
    waiting = asyncio.create_task(batcher.step(first))
    # The first turn of the loop starts the step, the second one the wait for the other generation.
    for _ in range(2):
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    for generation in (first, second):
        batcher.leave(generation)
    async with asyncio.timeout(10):
        await batch.emptied.wait()
    assert batch.sizes == [2]
