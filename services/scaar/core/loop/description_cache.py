"""Descriptions of parts, cached for a second."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

DESCRIPTION_TTL_S = 1.0
"""Time, in seconds, for which the description of a part is cached. An answer can name a model as
the model was described this long ago."""

_Description = TypeVar("_Description")


class CachedDescription(Generic[_Description]):
    """The description of a part, cached for :data:`DESCRIPTION_TTL_S`. Failures are not cached."""

    def __init__(
        self, describe: Callable[[], Awaitable[_Description]], clock: Callable[[], float]
    ) -> None:
        self._describe = describe
        self._clock = clock
        self._cached: tuple[float, _Description] | None = None

    async def get(self) -> _Description:
        """Return the description, at most :data:`DESCRIPTION_TTL_S` old."""
        now = self._clock()
        if self._cached is not None and now - self._cached[0] < DESCRIPTION_TTL_S:
            return self._cached[1]
        description = await self._describe()
        self._cached = (now, description)
        return description
