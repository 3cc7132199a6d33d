"""How many generations an engine works on at a time."""

from collections.abc import Iterator
from contextlib import contextmanager

from scaar.core.errors import Overloaded


class Places:
    """A bounded number of places; who finds none is refused at once, and nobody waits.

    ``most`` may change; those who hold a place keep it.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Holds a place for the block.

        Raises:
            Overloaded: all are taken.
        """
        if self.taken >= self.most:
            raise Overloaded(f"{self.taken} generations are under way, the most there may be")
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1
