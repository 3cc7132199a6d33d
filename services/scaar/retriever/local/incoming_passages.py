"""Buffer on disk for the passages of an upsert."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from scaar.core.types import Passage
from scaar.retriever.local.builder import PASSAGES_FILE, passage_line, passage_of_line
from scaar.retriever.validation import PassageValidator


class IncomingPassages:
    """Stores passages on disk until all have arrived. Not thread-safe.

    ``fields`` are the metadata fields that passages may have.
    """

    def __init__(self, folder: Path, fields: Sequence[str] = ()) -> None:
        self.fields = tuple(fields)
        self._ids = PassageValidator(self.fields)
        self._file = (folder / PASSAGES_FILE).open("w+b")
        self._places: dict[str, tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self._places)

    def add(self, passages: Iterable[Passage]) -> None:
        """Add passages.

        Raises:
            InvalidRequest: a passage is invalid or repeats an id; the error names its position.
        """
        for passage in passages:
            self._ids.check(passage)
            line = passage_line(passage)
            self._places[passage.id] = (self._file.tell(), len(line))
            self._file.write(line)

    def merged(self, old: Iterable[Passage]) -> Iterator[Passage]:
        """Yield the old passages, replaced in place by those of the same id, then the new ones."""
        remaining = dict(self._places)
        for passage in old:
            place = remaining.pop(passage.id, None)
            yield passage if place is None else self._read(*place)
        for place in remaining.values():
            yield self._read(*place)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read(self, start: int, size: int) -> Passage:
        self._file.seek(start)
        return passage_of_line(self._file.read(size))
