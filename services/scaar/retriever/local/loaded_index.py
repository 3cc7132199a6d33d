"""BM25 index open for searches, with memory-mapped weights and its terms in memory."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from scaar.core.distributions import library_required
from scaar.retriever.local.analysis import analyzer_of
from scaar.retriever.local.bm25s_without_jax import bm25s
from scaar.retriever.local.manifest import MANIFEST_FILE, FileRecord, Manifest, damaged, file_record
from scaar.retriever.local.metadata_rows import Array
from scaar.retriever.local.one_ranking import OneRanking
from scaar.retriever.local.stored_passages import (
    UNREADABLE,
    Scored,
    StoredPassages,
    TextAnalysis,
)


class LoadedIndex(OneRanking):
    """A BM25 index. Searches return passages with a score over 0."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        super().__init__(folder, manifest)
        self._weights = bm25s.BM25.load(folder, mmap=True, show_progress=False)
        arrays = self._weights.scores
        self._check_counts(
            search_files_fit=arrays["num_docs"] == manifest.passages
            and len(arrays["indptr"]) - 1 == len(self._weights.vocab_dict)
            and int(arrays["indptr"][-1]) == len(arrays["data"]) == len(arrays["indices"])
            and (self._weights.k1, self._weights.b) == (manifest.k1, manifest.b)
        )

    def analysed(self, queries: Sequence[str], analysis: TextAnalysis) -> Iterator[list[str]]:
        return map(analysis.analyzer.terms, queries)

    def best(self, query: list[str], top_k: int, *, allowed: Array | None) -> list[Scored]:
        if not query:
            return []
        try:
            scores = self._weights.get_scores(query)
            return [(row, float(scores[row])) for row in self._best(scores, top_k, allowed)]
        except UNREADABLE as error:
            raise self._inconsistent() from error

    def scored(self, query: list[str], rows: Array) -> list[Scored]:
        try:
            scores = self._weights.get_scores(query)[rows] if query else np.zeros(len(rows))
            order = np.lexsort((self.id_ranks[rows], -scores))
        except UNREADABLE as error:
            raise self._inconsistent() from error
        return [(int(rows[each]), float(scores[each])) for each in order]

    def _best(
        self,
        scores: np.ndarray[tuple[int], np.dtype[np.float32]],
        top_k: int,
        allowed: Array | None,
    ) -> list[int]:
        rows = np.flatnonzero(scores > 0) if allowed is None else allowed[scores[allowed] > 0]
        if len(rows) > top_k:
            # Keep every row that ties with the last one, so that ids break the tie.
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
    cancelled: threading.Event | None = None,
) -> None:
    """Verify that the files of an index are those of its manifest.

    Raises:
        DataCorrupt: naming the file that is missing, truncated or altered.
        ReadCancelled: the event was set meanwhile.
    """
    name = manifest.name
    if manifest.analyzer != (known := analysis_of(manifest)):
        text = f"has the analysis {manifest.analyzer}, not {known}"
        raise damaged(name, MANIFEST_FILE, text)
    for file in manifest.files:
        if wrong := wrong_file(folder / file.name, file, checksums=checksums, cancelled=cancelled):
            raise damaged(name, file.name, wrong)


def analysis_of(manifest: Manifest) -> str:
    """Return the analysis that this version uses for an index of that kind."""
    return analyzer_of(manifest.dense)


def wrong_file(
    path: Path,
    file: FileRecord,
    *,
    checksums: bool,
    cancelled: threading.Event | None = None,
) -> str:
    """Return the damage of a file of an index, empty if the file is intact."""
    try:
        if (size := path.stat().st_size) != file.size_bytes:
            return f"has {size:,} bytes, not {file.size_bytes:,}"
        altered = checksums and file_record(path, cancelled) != file
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return "is missing"
    return "was altered" if altered else ""


def open_index(folder: Path, manifest: Manifest, *, checksums: bool) -> StoredPassages:
    """Open the index in a folder, after checking its files.

    Raises:
        DataCorrupt: naming the damage.
        CapabilityMissing: the libraries that search the index are not installed.
    """
    check_files(folder, manifest, checksums=checksums)
    try:
        if manifest.dense is None:
            return LoadedIndex(folder, manifest)
        with library_required("a vector index", "dense"):
            from scaar.retriever.local.loaded_hybrid import LoadedHybrid
            from scaar.retriever.local.loaded_vectors import LoadedVectors
        vectors = LoadedVectors(folder, manifest, manifest.dense)
        if not manifest.dense.settings.words:
            return vectors
        return LoadedHybrid(folder, manifest, LoadedIndex(folder, manifest), vectors)
    except (ValueError, TypeError, KeyError, IndexError, EOFError) as error:
        raise damaged(manifest.name, folder.name, "cannot be read") from error
