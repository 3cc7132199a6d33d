"""Builder of an index's files. Passages are written to disk as they arrive."""

import hashlib
import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage
from scaar.retriever.content import PassageSum
from scaar.retriever.local.files import PendingIndex, sync
from scaar.retriever.local.manifest import Manifest, Recipe, file_record
from scaar.retriever.local.metadata_rows import RowsBuilder
from scaar.retriever.metadata import metadata_from_json, metadata_to_json
from scaar.retriever.validation import PassageValidator

PASSAGES_FILE = "passages.jsonl"
OFFSETS_FILE = "offsets.npy"
"""Start of each passage in the file of passages, and the end of the last one, in bytes."""
ID_RANKS_FILE = "id_ranks.npy"
"""Rank of each passage in the order of ids, which breaks ties between equal scores."""


class SearchWriter(Protocol):
    """Writer of the files that are searched, of words or of vectors."""

    def add(self, passage: Passage) -> None:
        """Add the next passage."""
        ...

    def write(self) -> float:
        """Write the files. Return the length of the longest vector, 0 without vectors."""
        ...

    def close(self) -> None:
        """Close the files being written."""
        ...


class IndexBuilder:
    """Collects passages, then writes their index. Not thread-safe."""

    def __init__(
        self,
        pending: PendingIndex,
        recipe: Recipe,
        searched_by: SearchWriter,
        *,
        fields: Sequence[str] = (),
    ) -> None:
        self.pending = pending
        self._folder = pending.files
        self._recipe, self._searched_by = recipe, searched_by
        self._fields = tuple(fields)
        self._ids = PassageValidator(self._fields)
        self._metadata = RowsBuilder()
        self._offsets = array("q", [0])
        self._sum = PassageSum()
        self._content = hashlib.sha256(recipe.content_head(self._fields))
        self._passages = (self._folder / PASSAGES_FILE).open("wb")

    @property
    def passages(self) -> int:
        """Number of passages added so far."""
        return self._sum.passages

    @property
    def version(self) -> str:
        """Version of the index of the passages added so far."""
        return self._content.hexdigest()

    def add(self, passages: Iterable[Passage]) -> None:
        """Add passages.

        Raises:
            InvalidRequest: a passage is invalid or repeats an id; the error names its position.
        """
        for passage in passages:
            self._ids.check(passage)
            data = passage_line(passage)
            self._passages.write(data)
            self._content.update(data)
            self._offsets.append(self._offsets[-1] + len(data))
            self._metadata.add(self.passages, passage.metadata)
            self._searched_by.add(passage)
            self._sum.add(passage)

    def finish(self, created: str) -> Manifest:
        """Write the index and flush its files to disk.

        Raises:
            InvalidRequest: there is no passage, or no passage contains a word.
        """
        self._passages.close()
        if not self.passages:
            raise InvalidRequest.of("passages", "must not be empty")
        longest = self._searched_by.write()
        np.save(self._folder / OFFSETS_FILE, np.asarray(self._offsets, dtype=np.int64))
        np.save(self._folder / ID_RANKS_FILE, id_ranks(self._ids.positions))
        if self._fields:
            self._metadata.write(self._folder)
        files = sorted(self._folder.iterdir())
        for path in files:
            sync(path)
        recipe = self._recipe
        return Manifest(
            name=self.pending.name,
            folder=self._folder.name,
            version=self.version,
            passages=self.passages,
            analyzer=recipe.analyzer,
            k1=recipe.k1,
            b=recipe.b,
            created=created,
            files=tuple(file_record(path) for path in files),
            metadata_fields=self._fields,
            content=self._sum.total,
            dense=recipe.dense,
            longest=longest,
        )

    def close(self) -> None:
        """Close the files being written."""
        self._passages.close()
        self._searched_by.close()


def id_ranks(positions: Mapping[str, int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Return, for each position, the rank of its id in the order of ids."""
    ranks = np.empty(len(positions), dtype=np.int32)
    for rank, passage_id in enumerate(sorted(positions)):
        ranks[positions[passage_id]] = rank
    return ranks


def passage_line(passage: Passage) -> bytes:
    """Return the line of a passage in a file of passages."""
    parts: list[object] = [passage.id, passage.title, passage.text]
    if passage.metadata:
        parts.append(metadata_to_json(passage.metadata))
    return f"{json.dumps(parts, ensure_ascii=False)}\n".encode()


def passage_of_line(line: bytes) -> Passage:
    """Return the passage of a line in a file of passages.

    Raises:
        ValueError, TypeError, AttributeError: the line is not a passage.
    """
    passage_id, title, text, *metadata = json.loads(line)
    return Passage(passage_id, title, text, metadata_from_json(*metadata or [{}]))
