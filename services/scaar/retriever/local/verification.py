"""Full verification of an index: every file, array and passage against its manifest."""

import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.core.plurals import counted
from scaar.core.types import IndexCheck, IndexVerification
from scaar.retriever.content import PassageSum
from scaar.retriever.local.builder import ID_RANKS_FILE, id_ranks, passage_line
from scaar.retriever.local.files import IndexFiles
from scaar.retriever.local.loaded_index import analysis_of, open_index, wrong_file
from scaar.retriever.local.manifest import MANIFEST_FILE, Manifest
from scaar.retriever.local.metadata_rows import RowsBuilder
from scaar.retriever.local.stored_passages import StoredPassages
from scaar.retriever.validation import PassageValidator


def verify(files: IndexFiles, name: str, cancelled: threading.Event) -> IndexVerification:
    """Verify an index. All checks are of one version of the index.

    Reading ends once ``cancelled`` is set.

    Raises:
        NotFound: there is no such index.
    """
    while True:
        try:
            manifest = files.read_manifest(name)
        except DataCorrupt as error:
            return IndexVerification(name, "", (_wrong(MANIFEST_FILE, error),))
        try:
            checks = _checks(files.root / name / manifest.folder, manifest, cancelled)
        except FileNotFoundError:
            # If the index was replaced or dropped while it was read, read the current one.
            if files.is_current(manifest):
                raise
        else:
            if cancelled.is_set() or files.is_current(manifest):
                return IndexVerification(name, manifest.version, tuple(checks))


def _checks(folder: Path, manifest: Manifest, cancelled: threading.Event) -> list[IndexCheck]:
    checks = [IndexCheck(MANIFEST_FILE, f"of {counted(manifest.passages, 'passage')}", passed=True)]
    checks += _file_checks(folder, manifest, cancelled)
    if all(check.passed for check in checks):
        checks += _content_checks(folder, manifest, cancelled)
    return checks


def _file_checks(
    folder: Path, manifest: Manifest, cancelled: threading.Event
) -> Iterator[IndexCheck]:
    yield IndexCheck(
        "analysis", manifest.analyzer, passed=manifest.analyzer == analysis_of(manifest)
    )
    for file in manifest.files:
        if cancelled.is_set():
            return
        wrong = wrong_file(folder / file.name, file, checksums=True)
        text = wrong or f"{file.size_bytes:,} bytes with the checksum of the manifest"
        yield IndexCheck(file.name, text, passed=not wrong)


def _content_checks(
    folder: Path, manifest: Manifest, cancelled: threading.Event
) -> Iterator[IndexCheck]:
    try:
        index = open_index(folder, manifest, checksums=False)
        yield IndexCheck("arrays", "readable, with matching lengths", passed=True)
        yield from _passage_checks(index, cancelled)
    except DataCorrupt as error:
        yield _wrong("arrays", error)


def _passage_checks(index: StoredPassages, cancelled: threading.Event) -> Iterator[IndexCheck]:
    """Read every passage, and compare everything derived from them with the stored files."""
    manifest, fields = index.manifest, index.manifest.metadata_fields
    content = hashlib.sha256(manifest.recipe.content_head(fields))
    ids, rows, total = PassageValidator(fields), RowsBuilder(), PassageSum()
    try:
        for row, passage in enumerate(index.passages()):
            if cancelled.is_set():
                return
            ids.check(passage)
            content.update(passage_line(passage))
            rows.add(row, passage.metadata)
            total.add(passage)
    except InvalidRequest as error:
        yield IndexCheck("passages", error.message, passed=False)
        return
    yield IndexCheck("passages", f"{len(ids.positions):,}, all valid", passed=True)
    version = content.hexdigest()
    yield IndexCheck(
        "version", f"{version[:12]}, from the passages", passed=version == manifest.version
    )
    if manifest.content:
        same_sum = total.total == manifest.content
        yield IndexCheck("content", f"digest {total.total[:12]}", passed=same_sum)
    in_order = np.array_equal(id_ranks(ids.positions), index.id_ranks)
    text = "matches the passages' ids" if in_order else "differs from that of the passages' ids"
    yield IndexCheck(f"order of {ID_RANKS_FILE}", text, passed=in_order)
    yield from index.extra_checks()
    if index.metadata is not None:
        stored = index.metadata.arrays
        same = all(np.array_equal(stored[name], each) for name, each in rows.arrays().items())
        text = "match the passages" if same else "differ from the passages"
        yield IndexCheck(f"values of {', '.join(fields)}", text, passed=same)


def _wrong(name: str, error: DataCorrupt) -> IndexCheck:
    return IndexCheck(name, error.metadata["damage"], passed=False)
