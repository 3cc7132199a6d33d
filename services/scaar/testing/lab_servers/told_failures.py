"""What a lab server was told to fail, and for how many generations."""

import enum
from collections.abc import Iterable
from typing import ClassVar, Generic, TypeVar, cast

from scaar.core.errors import InvalidRequest

_Kind = TypeVar("_Kind", bound=enum.StrEnum)


class ToldFailures(Generic[_Kind]):
    """What is still to fail: each kind for so many generations, or for all.

    A server derives from this and says which ``kinds`` it knows.
    """

    kinds: ClassVar[type[enum.StrEnum]]

    def __init__(self, told: Iterable[str] = ()) -> None:
        """Each is ``KIND``, for all, or ``KIND=TIMES``.

        Raises:
            InvalidRequest: naming what is no kind, or no number of times.
        """
        self._left: dict[_Kind, int | None] = {}
        for each in told:
            kind, _, times = each.partition("=")
            if kind not in list(self.kinds):
                known = ", ".join(self.kinds)
                raise InvalidRequest.of("--fail", f"there is no {kind!r}; known: {known}")
            if times and not (times.isdecimal() and int(times)):
                raise InvalidRequest.of("--fail", f"must be {kind}=TIMES from 1, not {each!r}")
            self.tell(cast(_Kind, self.kinds(kind)), int(times) if times else None)

    def tell(self, kind: _Kind, times: int | None = None) -> None:
        """The next generations are to fail so; all of them where ``times`` is None."""
        self._left[kind] = times

    def clear(self) -> None:
        """Nothing fails any more."""
        self._left.clear()

    def __contains__(self, kind: object) -> bool:
        """Whether the next generation is to fail so."""
        return kind in self._left

    def of_generation(self) -> frozenset[_Kind]:
        """What the generation that begins now is to suffer."""
        suffered = frozenset(self._left)
        for kind in suffered:
            times = self._left[kind]
            if times is not None:
                self._left[kind] = times - 1
                if times == 1:
                    del self._left[kind]
        return suffered
