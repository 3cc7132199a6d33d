"""Which indexes of a retriever can be asked, told to whoever keeps the health of the server."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from scaar.core.errors import DataCorrupt, NotFound


class IndexReadiness:
    """Tells of every change of an index: whole, or damaged or gone.

    ``whole`` is what was found at the start; later calls tell what they find.
    """

    def __init__(self, service_name: str, whole: Mapping[str, bool]) -> None:
        self._service_name = service_name
        self._whole = dict(whole)
        self._tell: Callable[[str, bool], None] = lambda name, serving: None

    def tell(self, tell: Callable[[str, bool], None]) -> None:
        """Tells of each index now, and again when it changes, as ``<service>/<index>``."""
        self._tell = tell
        for index, whole in self._whole.items():
            tell(f"{self._service_name}/{index}", whole)

    def gone(self, index: str) -> None:
        """Says that there is no such index any more."""
        self._set(index, False)

    @contextmanager
    def shown_by(self, index: str) -> Iterator[None]:
        """Takes from a call that reads the index, or builds it, what state it is in."""
        try:
            yield
        except DataCorrupt:
            self._set(index, False)
            raise
        except NotFound:
            if index in self._whole:
                self._set(index, False)
            raise
        self._set(index, True)

    def _set(self, index: str, whole: bool) -> None:
        if self._whole.get(index) is not whole:
            self._whole[index] = whole
            self._tell(f"{self._service_name}/{index}", whole)
