"""Builds an index's files from passages, which go to disk as they come."""

import hashlib
import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage
from scaar.retriever.content import PassageSum
from scaar.retriever.index_files import Draft, sync
from scaar.retriever.manifest import Manifest, Recipe, file_record
from scaar.retriever.metadata import metadata_from_json, metadata_to_json
from scaar.retriever.metadata_rows import RowsBuilder
from scaar.retriever.validation import PassageIds

PASSAGES_FILE = "passages.jsonl"
OFFSETS_FILE = "offsets.npy"
"""Where each passage begins in the file of passages, and where the last one ends."""
ID_RANKS_FILE = "id_ranks.npy"
"""Each passage's place in the order of ids, which decides between equal scores."""


class SearchedBy(Protocol):
    """What makes the files that passages are found by: of their words, or of their vectors."""

    def add(self, passage: Passage) -> None:
        """Takes the next passage in."""
        ...

    def write(self) -> float:
        """Writes the files; the length of the longest vector, 0 where there is none."""
        ...

    def close(self) -> None:
        """Closes the files being written."""
        ...


class IndexBuilder:
    """Takes passages in, then writes the index of them. For one thread at a time."""

    def __init__(
        self, draft: Draft, recipe: Recipe, searched_by: SearchedBy, *, fields: Sequence[str] = ()
    ) -> None:
        self.draft = draft
        self._folder = draft.files
        self._recipe, self._searched_by = recipe, searched_by
        self._fields = tuple(fields)
        self._ids = PassageIds(self._fields)
        self._metadata = RowsBuilder()
        self._offsets = array("q", [0])
        self._sum = PassageSum()
        self._content = hashlib.sha256(recipe.content_head(self._fields))
        self._passages = (self._folder / PASSAGES_FILE).open("wb")

    @property
    def passages(self) -> int:
        """How many passages were taken in."""
        return self._sum.passages

    @property
    def version(self) -> str:
        """The version of the index of the passages taken in."""
        return self._content.hexdigest()

    def add(self, passages: Iterable[Passage]) -> None:
        """Takes passages in.

        Raises:
            InvalidRequest: one of them is none, or has an id seen before; by its position.
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
        """Writes the index; its files are on the disk when this returns.

        Raises:
            InvalidRequest: there is no passage, or no word in any.
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
            name=self.draft.name,
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
        """Closes the files being written."""
        self._passages.close()
        self._searched_by.close()


def id_ranks(positions: Mapping[str, int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """For each position the place of its id in the order of ids."""
    ranks = np.empty(len(positions), dtype=np.int32)
    for rank, passage_id in enumerate(sorted(positions)):
        ranks[positions[passage_id]] = rank
    return ranks


def passage_line(passage: Passage) -> bytes:
    """A passage as it is in a file of passages."""
    parts: list[object] = [passage.id, passage.title, passage.text]
    if passage.metadata:
        parts.append(metadata_to_json(passage.metadata))
    return f"{json.dumps(parts, ensure_ascii=False)}\n".encode()


def passage_of_line(line: bytes) -> Passage:
    """A passage as it is in a file of passages.

    Raises:
        ValueError, TypeError, AttributeError: it is none.
    """
    passage_id, title, text, *metadata = json.loads(line)
    return Passage(passage_id, title, text, metadata_from_json(*metadata or [{}]))
