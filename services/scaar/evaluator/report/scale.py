"""Axes: values mapped to places on a page, with ticks at round numbers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

_TICKS = 6
"""Approximate number of ticks of an axis."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map from ``low``..``high`` to the places ``start``..``end``, with ``ticks``."""

    low: float
    high: float
    start: float
    end: float
    step: float

    def place(self, value: float) -> float:
        """Return the place of a value, to a tenth of a pixel."""
        part = (value - self.low) / (self.high - self.low)
        return round(self.start + part * (self.end - self.start), 1)

    @property
    def ticks(self) -> tuple[float, ...]:
        """The round values of the axis, from its low end to its high end."""
        count = round((self.high - self.low) / self.step)
        return tuple(self.low + number * self.step for number in range(count + 1))

    def written(self, tick: float) -> str:
        """Return the tick's number with the decimals that the step needs."""
        decimals = max(0, -math.floor(math.log10(self.step) + 1e-9))
        # A step such as 0.25 needs one more.
        decimals += round(self.step, decimals) != round(self.step, decimals + 1)
        return f"{round(tick, decimals) + 0.0:,.{decimals}f}"


def scale(
    values: Iterable[float],
    start: float,
    end: float,
    *,
    minimum: float = 0.0,
    margin: float = 0.0,
    ticks: int = _TICKS,
) -> Scale:
    """Return a scale that covers all values, from one round number to another.

    Neither end is below ``minimum``. A single value is in the middle of its scale. ``margin`` is
    the share of the range that stays free at either end.
    """
    found = list(values)
    low, high = min(found), max(found)
    low, high = low - margin * (high - low), high + margin * (high - low)
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 0.1 * max(1.0, abs(low)), high + 0.1 * max(1.0, abs(high))
    low = max(low, minimum)
    step = _round_step((high - low) / ticks)
    # An end that differs from a round number by rounding alone is that number.
    first = max(math.floor(low / step + 1e-9), math.ceil(minimum / step - 1e-9))
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return Scale(first * step, last * step, start, end, step)


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    for factor in (1, 2, 2.5, 5, 10):
        if step <= factor * power * (1 + 1e-9):
            return factor * power
    raise AssertionError("a step is less than ten times its power of ten")
