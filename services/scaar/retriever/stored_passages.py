"""The passages of an index on disk, memory-mapped: what every kind of index has."""

import mmap
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scaar.core.errors import DataCorrupt
from scaar.core.filters import check_declared
from scaar.core.types import Filter, IndexCheck, Passage, RetrievedPassage
from scaar.retriever.analysis import EnglishAnalyzer
from scaar.retriever.dense import OwnEncoder
from scaar.retriever.index_builder import (
    ID_RANKS_FILE,
    OFFSETS_FILE,
    PASSAGES_FILE,
    passage_of_line,
)
from scaar.retriever.manifest import Manifest, damaged
from scaar.retriever.metadata_rows import Array, MetadataRows

UNREADABLE = (IndexError, ValueError, TypeError, AttributeError)
"""What is raised where files do not fit together."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How queries are read: to words, and to vectors."""

    analyzer: EnglishAnalyzer
    own_encoder: OwnEncoder


class StoredPassages(ABC):
    """An index that can be searched, by several threads at once."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.manifest = manifest
        self._folder = folder
        self._offsets = np.load(folder / OFFSETS_FILE, mmap_mode="r")
        self.id_ranks: Array = np.load(folder / ID_RANKS_FILE, mmap_mode="r")
        with (folder / PASSAGES_FILE).open("rb") as file:
            self._passages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.metadata = MetadataRows(folder) if manifest.metadata_fields else None

    @abstractmethod
    def found(
        self, queries: Sequence[str], top_k: int, reading: Reading, *, among: Array | None = None
    ) -> Iterator[tuple[RetrievedPassage, ...]]:
        """The best passages for each query in turn, ties by id; only those of some rows.

        A score is that of the whole index, whatever the rows.
        """

    def own_checks(self) -> Iterator[IndexCheck]:
        """What of its kind alone can be held against the manifest."""
        yield from ()

    def fitting(self, filters: Sequence[Filter]) -> Array | None:
        """The rows of the passages that fit all the filters; None for every one.

        Raises:
            InvalidRequest: a filter is on a field that is not declared.
        """
        check_declared(filters, self.manifest.metadata_fields, index=self.manifest.name)
        if not filters or self.metadata is None:
            return None
        try:
            return self.metadata.fitting(filters)
        except UNREADABLE as error:
            raise self._does_not_fit() from error

    def passages(self) -> Iterator[Passage]:
        """Every passage, in the order in which they were indexed."""
        for row in range(self.manifest.passages):
            yield self.passage(row)

    def passage(self, row: int) -> Passage:
        """The passage of a row."""
        try:
            return passage_of_line(self._passages[self._offsets[row] : self._offsets[row + 1]])
        except UNREADABLE as error:
            raise self._does_not_fit() from error

    def _found(self, row: int, score: float, rank: int) -> RetrievedPassage:
        kept = self.passage(row)
        return RetrievedPassage(kept.id, kept.title, kept.text, score, rank, kept.metadata)

    def _does_not_fit(self) -> DataCorrupt:
        return damaged(self.manifest.name, self._folder.name, "does not fit together")

    def _check_counts(self, *, searched_fit: bool) -> None:
        """Passes files of lengths that go together; ``searched_fit`` says so of the others."""
        if not (
            searched_fit
            and self.manifest.passages == len(self.id_ranks) == len(self._offsets) - 1
            and int(self._offsets[-1]) == len(self._passages)
            and (self.metadata is None or self.metadata.fit_together)
        ):
            raise damaged(self.manifest.name, self._folder.name, "has counts that differ")
