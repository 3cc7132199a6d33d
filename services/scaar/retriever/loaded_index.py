"""An index of words opened for searching: its weights memory-mapped, its terms in memory."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import bm25s
import numpy as np

from scaar.core.types import RetrievedPassage
from scaar.retriever.analysis import ANALYZER
from scaar.retriever.dense import ENCODED, needing_faiss
from scaar.retriever.manifest import MANIFEST_FILE, FileRecord, Manifest, damaged, file_record
from scaar.retriever.metadata_rows import Array
from scaar.retriever.stored_passages import UNREADABLE, Reading, StoredPassages


class LoadedIndex(StoredPassages):
    """An index of words: passages with a score over 0 are found."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        super().__init__(folder, manifest)
        self._weights = bm25s.BM25.load(folder, mmap=True, show_progress=False)
        arrays = self._weights.scores
        self._check_counts(
            searched_fit=arrays["num_docs"] == manifest.passages
            and len(arrays["indptr"]) - 1 == len(self._weights.vocab_dict)
            and int(arrays["indptr"][-1]) == len(arrays["data"]) == len(arrays["indices"])
            and (self._weights.k1, self._weights.b) == (manifest.k1, manifest.b)
        )

    def found(
        self, queries: Sequence[str], top_k: int, reading: Reading, *, among: Array | None = None
    ) -> Iterator[tuple[RetrievedPassage, ...]]:
        for query in queries:
            terms = reading.analyzer.terms(query)
            yield self._for_terms(terms, top_k, among) if terms else ()

    def _for_terms(
        self, terms: list[str], top_k: int, among: Array | None
    ) -> tuple[RetrievedPassage, ...]:
        try:
            scores = self._weights.get_scores(terms)
            rows = self._best(scores, top_k, among)
            return tuple(
                self._found(row, float(scores[row]), rank) for rank, row in enumerate(rows, 1)
            )
        except UNREADABLE as error:
            raise self._does_not_fit() from error

    def _best(
        self,
        scores: np.ndarray[tuple[int], np.dtype[np.float32]],
        top_k: int,
        among: Array | None,
    ) -> list[int]:
        rows = np.flatnonzero(scores > 0) if among is None else among[scores[among] > 0]
        if len(rows) > top_k:
            # All that tie with the last one stay, so that their ids decide.
            last = np.partition(scores[rows], len(rows) - top_k)[len(rows) - top_k]
            rows = rows[scores[rows] >= last]
        order = np.lexsort((self.id_ranks[rows], -scores[rows]))[:top_k]
        best: list[int] = rows[order].tolist()
        return best


def check_files(
    folder: Path,
    manifest: Manifest,
    *,
    checksums: bool,
    abandoned: threading.Event | None = None,
) -> None:
    """Passes an index whose files are those of its manifest.

    Raises:
        DataCorrupt: naming the file that is missing, truncated or altered.
        ReadingAbandoned: the event was set meanwhile.
    """
    name = manifest.name
    if manifest.analyzer != (known := analysis_of(manifest)):
        text = f"names the analysis {manifest.analyzer}, not {known}"
        raise damaged(name, MANIFEST_FILE, text)
    for file in manifest.files:
        if wrong := wrong_file(folder / file.name, file, checksums=checksums, abandoned=abandoned):
            raise damaged(name, file.name, wrong)


def analysis_of(manifest: Manifest) -> str:
    """The analysis that this version knows of an index of that kind."""
    return ANALYZER if manifest.dense is None else ENCODED


def wrong_file(
    path: Path,
    file: FileRecord,
    *,
    checksums: bool,
    abandoned: threading.Event | None = None,
) -> str:
    """What is wrong with a file of an index; empty where it is as it was recorded."""
    try:
        if (size := path.stat().st_size) != file.size_bytes:
            return f"has {size:,} bytes, not {file.size_bytes:,}"
        altered = checksums and file_record(path, abandoned) != file
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return "is missing"
    return "was altered" if altered else ""


def open_index(folder: Path, manifest: Manifest, *, checksums: bool) -> StoredPassages:
    """The index in a folder, checked.

    Raises:
        DataCorrupt: naming what is damaged.
        CapabilityMissing: the libraries that search it are not installed.
    """
    check_files(folder, manifest, checksums=checksums)
    try:
        if manifest.dense is None:
            return LoadedIndex(folder, manifest)
        with needing_faiss():
            from scaar.retriever.loaded_vectors import LoadedVectors
        return LoadedVectors(folder, manifest, manifest.dense)
    except (ValueError, TypeError, KeyError, IndexError, EOFError) as error:
        raise damaged(manifest.name, folder.name, "cannot be read") from error
