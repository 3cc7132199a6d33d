"""Two ways of doing the same, timed alternately, so that lasting noise affects both."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

_Item = TypeVar("_Item")
Work = Callable[[_Item], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Compared:
    """Milliseconds of each item, in one way and in the other."""

    baseline_ms: Sequence[float]
    other_ms: Sequence[float]

    @property
    def ratio(self) -> float:
        """The median of the ratios of the items."""
        pairs = zip(self.other_ms, self.baseline_ms, strict=True)
        return median(other / baseline for other, baseline in pairs)


async def compare(
    items: Sequence[_Item], baseline: Work[_Item], other: Work[_Item], *, rounds: int = 3
) -> Compared:
    """Time both ways on every item, alternately; the fastest round counts."""
    for work in (baseline, other):
        await work(items[0])
    times: tuple[list[float], list[float]] = ([], [])
    for item in items:
        best = [float("inf"), float("inf")]
        for _ in range(rounds):
            for way, work in enumerate((baseline, other)):
                began = time.perf_counter()
                await work(item)
                best[way] = min(best[way], (time.perf_counter() - began) * 1000)
        for way, each in enumerate(best):
            times[way].append(each)
    return Compared(*times)
