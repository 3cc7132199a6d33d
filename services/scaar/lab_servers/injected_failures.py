"""Failures injected into the generations of a lab server."""

import enum
from collections.abc import Iterable
from typing import ClassVar, Generic, TypeVar, cast

from scaar.core.errors import InvalidRequest

_Kind = TypeVar("_Kind", bound=enum.StrEnum)


class InjectedFailures(Generic[_Kind]):
    """The remaining failures of each kind: a number of generations, or all.

    A server's subclass defines the ``kinds`` it supports.
    """

    kinds: ClassVar[type[enum.StrEnum]]

    def __init__(self, failures: Iterable[str] = ()) -> None:
        """A failure is ``KIND``, for all generations, or ``KIND=TIMES``.

        Raises:
            InvalidRequest: naming an unknown kind, or an invalid number of times.
        """
        self._remaining: dict[_Kind, int | None] = {}
        for each in failures:
            kind, _, times = each.partition("=")
            if kind not in list(self.kinds):
                known = ", ".join(self.kinds)
                raise InvalidRequest.of("--fail", f"unknown failure {kind!r}; known: {known}")
            if times and not (times.isdecimal() and int(times)):
                text = f"must be {kind}=TIMES with TIMES at least 1, not {each!r}"
                raise InvalidRequest.of("--fail", text)
            self.inject(cast(_Kind, self.kinds(kind)), int(times) if times else None)

    def inject(self, kind: _Kind, times: int | None = None) -> None:
        """Make the next ``times`` generations fail, or all of them."""
        self._remaining[kind] = times

    def clear(self) -> None:
        """Remove all failures."""
        self._remaining.clear()

    def __contains__(self, kind: object) -> bool:
        """Return whether the next generation has this failure."""
        return kind in self._remaining

    def of_generation(self) -> frozenset[_Kind]:
        """Return the failures of a new generation, and count them."""
        failures = frozenset(self._remaining)
        for kind in failures:
            times = self._remaining[kind]
            if times is not None:
                self._remaining[kind] = times - 1
                if times == 1:
                    del self._remaining[kind]
        return failures
