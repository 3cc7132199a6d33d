"""Base of open indexes: the passages on disk, memory-mapped."""

import mmap
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from scaar.core.errors import DataCorrupt
from scaar.core.filters import check_declared
from scaar.core.types import (
    Filter,
    IndexCheck,
    Passage,
    RetrievedPassage,
    RetrieveRequest,
    SearchMode,
)
from scaar.retriever.dense import ConfiguredEncoder, VectorLookup
from scaar.retriever.local.analysis import EnglishAnalyzer
from scaar.retriever.local.builder import (
    ID_RANKS_FILE,
    OFFSETS_FILE,
    PASSAGES_FILE,
    passage_of_line,
)
from scaar.retriever.local.manifest import Manifest, damaged
from scaar.retriever.local.metadata_rows import Array, MetadataRows

UNREADABLE = (IndexError, ValueError, TypeError, AttributeError)
"""Errors that inconsistent files cause."""

Scored = tuple[int, float]
"""A row and its score."""


@dataclass(frozen=True, slots=True)
class TextAnalysis:
    """Analysis of queries: into words, and into vectors."""

    analyzer: EnglishAnalyzer
    configured_encoder: ConfiguredEncoder


class StoredPassages(ABC):
    """An index that can be searched. Thread-safe."""

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
        self, request: RetrieveRequest, mode: SearchMode, analysis: TextAnalysis
    ) -> Iterator[tuple[RetrievedPassage, ...]]:
        """Yield the passages for each query of a request, in a mode that the index has."""

    def extra_checks(self) -> Iterator[IndexCheck]:
        """Yield the checks against the manifest that are specific to the kind of index."""
        yield from ()

    def vector_lookup(self) -> VectorLookup:
        """Return a lookup of the vectors of passages whose title and text are in the index."""
        return lambda passage: None

    def matching_rows(self, filters: Sequence[Filter]) -> Array | None:
        """Return the rows of passages that match all filters, None for all rows.

        Raises:
            InvalidRequest: a filter names an undeclared field.
        """
        check_declared(filters, self.manifest.metadata_fields, index=self.manifest.name)
        if not filters or self.metadata is None:
            return None
        try:
            return self.metadata.matching_rows(filters)
        except UNREADABLE as error:
            raise self._inconsistent() from error

    def passages(self) -> Iterator[Passage]:
        """Yield every passage, in the order of indexing."""
        for row in range(self.manifest.passages):
            yield self.passage(row)

    def passage(self, row: int) -> Passage:
        """Return the passage of a row."""
        try:
            return passage_of_line(self._passages[self._offsets[row] : self._offsets[row + 1]])
        except UNREADABLE as error:
            raise self._inconsistent() from error

    def row_of(self, passage_id: str) -> int | None:
        """Return the row of a passage; None if there is none of this id."""
        rows = self._rows_by_id
        at = bisect_left(rows, passage_id, key=lambda row: self.passage(int(row)).id)
        if at < len(rows) and self.passage(row := int(rows[at])).id == passage_id:
            return row
        return None

    @cached_property
    def _rows_by_id(self) -> Array:
        """The rows in the order of their ids."""
        return np.argsort(self.id_ranks)

    def kept(
        self, best: Iterable[Scored], top_k: int, excluded: Collection[str]
    ) -> Iterable[Scored]:
        """Return the first ``top_k`` rows without the excluded passages."""
        if not excluded:
            return islice(best, top_k)
        return islice((each for each in best if self.passage(each[0]).id not in excluded), top_k)

    def retrieved(self, best: Iterable[Scored]) -> tuple[RetrievedPassage, ...]:
        """Return the passages of rows, with their scores and ranks."""
        stored = ((self.passage(row), score) for row, score in best)
        return tuple(
            RetrievedPassage(each.id, each.title, each.text, score, rank, each.metadata)
            for rank, (each, score) in enumerate(stored, 1)
        )

    def _inconsistent(self) -> DataCorrupt:
        return damaged(self.manifest.name, self._folder.name, "is inconsistent")

    def _check_counts(self, *, search_files_fit: bool) -> None:
        """Validate that the lengths of the files agree."""
        if not (
            search_files_fit
            and self.manifest.passages == len(self.id_ranks) == len(self._offsets) - 1
            and int(self._offsets[-1]) == len(self._passages)
            and (self.metadata is None or self.metadata.is_consistent)
        ):
            raise damaged(self.manifest.name, self._folder.name, "has counts that differ")
