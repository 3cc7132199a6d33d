"""What a part says of itself, remembered for a moment."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

DESCRIBED_FOR_S = 1.0
"""Seconds for which a description holds: an answer may name a model as it was so long ago."""

_Description = TypeVar("_Description")


class Described(Generic[_Description]):
    """Asks a part what it is, unless it said so a moment ago; failures are not remembered."""

    def __init__(
        self, ask: Callable[[], Awaitable[_Description]], clock: Callable[[], float]
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._said: tuple[float, _Description] | None = None

    async def get(self) -> _Description:
        """The description, at most :data:`DESCRIBED_FOR_S` old."""
        now = self._clock()
        if self._said is not None and now - self._said[0] < DESCRIBED_FOR_S:
            return self._said[1]
        description = await self._ask()
        self._said = (now, description)
        return description
