"""An index's files, arrays and passages held against its manifest, every one of them."""

import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.core.types import IndexCheck, IndexVerification
from scaar.retriever.content import PassageSum
from scaar.retriever.index_builder import ID_RANKS_FILE, id_ranks, passage_line
from scaar.retriever.index_files import IndexFiles
from scaar.retriever.loaded_index import analysis_of, open_index, wrong_file
from scaar.retriever.manifest import MANIFEST_FILE, Manifest
from scaar.retriever.metadata_rows import RowsBuilder
from scaar.retriever.stored_passages import StoredPassages
from scaar.retriever.validation import PassageIds


def verify(files: IndexFiles, name: str, abandoned: threading.Event) -> IndexVerification:
    """What is right and what is wrong with an index; what is told is of one version of it.

    Nothing more is read once nobody waits for it.

    Raises:
        NotFound: there is none of that name.
    """
    while True:
        try:
            manifest = files.read_manifest(name)
        except DataCorrupt as error:
            return IndexVerification(name, "", (_wrong(MANIFEST_FILE, error),))
        try:
            checks = _checks(files.root / name / manifest.folder, manifest, abandoned)
        except FileNotFoundError:
            # Replaced or dropped under our hands, its files went while they were read.
            if files.is_current(manifest):
                raise
        else:
            if abandoned.is_set() or files.is_current(manifest):
                return IndexVerification(name, manifest.version, tuple(checks))


def _checks(folder: Path, manifest: Manifest, abandoned: threading.Event) -> list[IndexCheck]:
    checks = [IndexCheck(MANIFEST_FILE, f"of {manifest.passages:,} passages", right=True)]
    checks += _file_checks(folder, manifest, abandoned)
    if all(check.right for check in checks):
        checks += _content_checks(folder, manifest, abandoned)
    return checks


def _file_checks(
    folder: Path, manifest: Manifest, abandoned: threading.Event
) -> Iterator[IndexCheck]:
    yield IndexCheck(
        "analysis", manifest.analyzer, right=manifest.analyzer == analysis_of(manifest)
    )
    for file in manifest.files:
        if abandoned.is_set():
            return
        wrong = wrong_file(folder / file.name, file, checksums=True)
        told = wrong or f"{file.size_bytes:,} bytes with the checksum of the manifest"
        yield IndexCheck(file.name, told, right=not wrong)


def _content_checks(
    folder: Path, manifest: Manifest, abandoned: threading.Event
) -> Iterator[IndexCheck]:
    try:
        index = open_index(folder, manifest, checksums=False)
        yield IndexCheck("arrays", "readable, of lengths that go together", right=True)
        yield from _passage_checks(index, abandoned)
    except DataCorrupt as error:
        yield _wrong("arrays", error)


def _passage_checks(index: StoredPassages, abandoned: threading.Event) -> Iterator[IndexCheck]:
    """Reads every passage, and holds what was made of them all against what is kept."""
    manifest, fields = index.manifest, index.manifest.metadata_fields
    content = hashlib.sha256(manifest.recipe.content_head(fields))
    ids, rows, total = PassageIds(fields), RowsBuilder(), PassageSum()
    try:
        for row, passage in enumerate(index.passages()):
            if abandoned.is_set():
                return
            ids.check(passage)
            content.update(passage_line(passage))
            rows.add(row, passage.metadata)
            total.add(passage)
    except InvalidRequest as error:
        yield IndexCheck("passages", error.message, right=False)
        return
    yield IndexCheck("passages", f"{len(ids.positions):,}, each one as it may be", right=True)
    version = content.hexdigest()
    yield IndexCheck(
        "version", f"the passages make {version[:12]}", right=version == manifest.version
    )
    if manifest.content:
        same_sum = total.total == manifest.content
        yield IndexCheck("content", f"a digest of {total.total[:12]}", right=same_sum)
    in_order = np.array_equal(id_ranks(ids.positions), index.id_ranks)
    told = "as the passages' ids" if in_order else "another than that of the passages' ids"
    yield IndexCheck(f"order of {ID_RANKS_FILE}", told, right=in_order)
    yield from index.own_checks()
    if index.metadata is not None:
        kept = index.metadata.arrays
        same = all(np.array_equal(kept[name], each) for name, each in rows.arrays().items())
        told = "the passages'" if same else "others than the passages'"
        yield IndexCheck(f"values of {', '.join(fields)}", told, right=same)


def _wrong(name: str, error: DataCorrupt) -> IndexCheck:
    return IndexCheck(name, error.metadata["damage"], right=False)
