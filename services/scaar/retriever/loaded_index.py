"""An index opened for searching: its arrays and passages memory-mapped, its terms in memory."""

import json
import mmap
from collections.abc import Iterator
from pathlib import Path

import bm25s
import numpy as np

from scaar.core.types import Passage, RetrievedPassage
from scaar.retriever.analysis import ANALYZER, EnglishAnalyzer
from scaar.retriever.index_builder import ID_RANKS_FILE, OFFSETS_FILE, PASSAGES_FILE
from scaar.retriever.manifest import MANIFEST_FILE, Manifest, damaged, file_record


class LoadedIndex:
    """An index that can be searched, by several threads at once."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.manifest = manifest
        self._folder = folder
        self._weights = bm25s.BM25.load(folder, mmap=True, show_progress=False)
        self._offsets = np.load(folder / OFFSETS_FILE, mmap_mode="r")
        self._id_ranks = np.load(folder / ID_RANKS_FILE, mmap_mode="r")
        with (folder / PASSAGES_FILE).open("rb") as file:
            self._passages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._check_counts()

    def search(
        self, query: str, top_k: int, analyzer: EnglishAnalyzer
    ) -> tuple[RetrievedPassage, ...]:
        """The passages with the highest scores over 0, ties by id."""
        terms = analyzer.terms(query)
        if not terms:
            return ()
        try:
            scores = self._weights.get_scores(terms)
            rows = self._best(scores, top_k)
            return tuple(
                self._passage(row, float(scores[row]), rank) for rank, row in enumerate(rows, 1)
            )
        except (IndexError, ValueError, TypeError) as error:
            raise damaged(self.manifest.name, self._folder.name, "does not fit together") from error

    def passages(self) -> Iterator[Passage]:
        """Every passage, in the order in which they were indexed."""
        for row in range(self.manifest.passages):
            try:
                found = self._passage(row, 0.0, 1)
            except (ValueError, TypeError) as error:
                name = self.manifest.name
                raise damaged(name, self._folder.name, "does not fit together") from error
            yield Passage(found.id, found.title, found.text)

    def _best(self, scores: np.ndarray[tuple[int], np.dtype[np.float32]], top_k: int) -> list[int]:
        rows = np.flatnonzero(scores > 0)
        if len(rows) > top_k:
            # All that tie with the last one stay, so that their ids decide.
            last = np.partition(scores[rows], len(rows) - top_k)[len(rows) - top_k]
            rows = rows[scores[rows] >= last]
        order = np.lexsort((self._id_ranks[rows], -scores[rows]))[:top_k]
        best: list[int] = rows[order].tolist()
        return best

    def _passage(self, row: int, score: float, rank: int) -> RetrievedPassage:
        line = self._passages[int(self._offsets[row]) : int(self._offsets[row + 1])]
        passage_id, title, text = json.loads(line)
        return RetrievedPassage(passage_id, title, text, score, rank)

    def _check_counts(self) -> None:
        weights, passages = self._weights, self.manifest.passages
        arrays = weights.scores
        if not (
            arrays["num_docs"] == passages == len(self._id_ranks) == len(self._offsets) - 1
            and int(self._offsets[-1]) == len(self._passages)
            and len(arrays["indptr"]) - 1 == len(weights.vocab_dict)
            and int(arrays["indptr"][-1]) == len(arrays["data"]) == len(arrays["indices"])
            and (weights.k1, weights.b) == (self.manifest.k1, self.manifest.b)
        ):
            raise damaged(self.manifest.name, self._folder.name, "has counts that differ")


def check_files(folder: Path, manifest: Manifest, *, checksums: bool) -> None:
    """Passes an index whose files are those of its manifest.

    Raises:
        DataCorrupt: naming the file that is missing, truncated or altered.
    """
    name = manifest.name
    if manifest.analyzer != ANALYZER:
        raise damaged(
            name, MANIFEST_FILE, f"names the analysis {manifest.analyzer}, not {ANALYZER}"
        )
    for file in manifest.files:
        path = folder / file.name
        if not path.is_file():
            raise damaged(name, file.name, "is missing")
        if (size := path.stat().st_size) != file.size_bytes:
            raise damaged(name, file.name, f"has {size:,} bytes, not {file.size_bytes:,}")
        if checksums and file_record(path) != file:
            raise damaged(name, file.name, "was altered")


def open_index(folder: Path, manifest: Manifest, *, checksums: bool) -> LoadedIndex:
    """The index in a folder, checked.

    Raises:
        DataCorrupt: naming what is damaged.
    """
    check_files(folder, manifest, checksums=checksums)
    try:
        return LoadedIndex(folder, manifest)
    except (ValueError, TypeError, KeyError, EOFError) as error:
        raise damaged(manifest.name, folder.name, "cannot be read") from error
