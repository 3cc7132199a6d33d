"""Manifest of an index: its identity, its recipe and its files."""

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scaar.core.errors import DataCorrupt
from scaar.core.types import (
    DenseDescription,
    DenseSettings,
    HnswSettings,
    IndexDescription,
    VectorMetric,
)

FORMAT_OF_BOTH = 4
"""Format of words and vectors, which earlier versions cannot read."""
FORMAT_OF_VECTORS = 3
FORMAT = 2
"""Format with declared metadata fields. A BM25 index without any has the format below, which
earlier versions can read."""
FORMAT_WITHOUT_FIELDS = 1
ENGINE = "bm25s"
ENGINE_OF_VECTORS = "faiss"
ENGINE_OF_BOTH = "bm25s+faiss"
MANIFEST_FILE = "manifest.json"
_FORMATS = (FORMAT_WITHOUT_FIELDS, FORMAT, FORMAT_OF_VECTORS, FORMAT_OF_BOTH)

_READ_BATCH = 1 << 20

# A manifest is JSON.
Json = Any


class ReadCancelled(Exception):
    """The caller no longer waits for the file that was being read."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file of an index, as recorded in its manifest."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """How passages are made searchable: by weighted words, by vectors, or by both."""

    analyzer: str
    k1: float = 0.0
    b: float = 0.0
    dense: DenseDescription | None = None

    def content_head(self, fields: Sequence[str]) -> bytes:
        """Return the input of a version's digest that precedes the passages."""
        head: list[object] = [self.analyzer, self.k1, self.b]
        if fields or self.dense:
            head.append(list(fields))
        if self.dense:
            head.append(dense_parts(self.dense))
        return json.dumps(head).encode()


@dataclass(frozen=True, slots=True)
class Manifest:
    """Description of an index. ``folder`` contains its files, beside the manifest."""

    name: str
    folder: str
    version: str
    """SHA-256 of the recipe and every passage. Equal versions give equal results."""
    passages: int
    analyzer: str
    k1: float
    b: float
    created: str
    files: tuple[FileRecord, ...]
    metadata_fields: tuple[str, ...] = ()
    content: str = ""
    """The sum of :class:`scaar.retriever.content.PassageSum`. Empty in older manifests."""
    dense: DenseDescription | None = None
    longest: float = 0.0
    """The length of the longest vector."""

    @property
    def recipe(self) -> Recipe:
        """The recipe of the index."""
        return Recipe(self.analyzer, self.k1, self.b, self.dense)

    @property
    def engine(self) -> str:
        """The library that searches the index."""
        if self.dense is None:
            return ENGINE
        return ENGINE_OF_BOTH if self.dense.settings.words else ENGINE_OF_VECTORS

    def description(self) -> IndexDescription:
        """Return the description that the port exposes."""
        return IndexDescription(
            name=self.name,
            version=self.version,
            passages=self.passages,
            engine=self.engine,
            k1=self.k1,
            b=self.b,
            created=self.created,
            size_bytes=sum(file.size_bytes for file in self.files),
            metadata_fields=self.metadata_fields,
            dense=self.dense,
            content=self.content,
            analysis=self.analyzer,
        )

    def encode(self) -> bytes:
        """Return the manifest as stored on disk, with its own checksum."""
        format_ = FORMAT if self.metadata_fields else FORMAT_WITHOUT_FIELDS
        if self.dense:
            format_ = FORMAT_OF_BOTH if self.dense.settings.words else FORMAT_OF_VECTORS
        content = {"format": format_, "engine": self.engine, **asdict(self)}
        for name in ("metadata_fields", "content", "dense", "longest"):
            if not content[name]:
                del content[name]
        if self.dense and not self.dense.settings.words:
            del content["dense"]["settings"]["words"]
        return json.dumps({**content, "checksum": _checksum(content)}, indent=1).encode()


def decode_manifest(data: bytes, name: str) -> Manifest:
    """Return the manifest of the index ``name`` from its content on disk.

    Raises:
        DataCorrupt: the manifest is damaged, or has an unknown format.
    """
    try:
        content = json.loads(data)
        checksum = content.pop("checksum")
        if content["format"] not in _FORMATS:
            *others, last = _FORMATS
            known = f"{', '.join(map(str, others))} or {last}"
            text = f"has format {content['format']}, not {known}"
            raise damaged(name, MANIFEST_FILE, text)
        if checksum != _checksum(content):
            raise ValueError("the checksum differs")
        manifest = _manifest(content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(name, MANIFEST_FILE, "cannot be read") from error
    if manifest.name != name:
        raise damaged(name, MANIFEST_FILE, f"belongs to the index {manifest.name!r}")
    return manifest


def file_record(path: Path, cancelled: threading.Event | None = None) -> FileRecord:
    """Return the record of a file in its current state.

    Raises:
        ReadCancelled: the event was set before the end of the file was read.
    """
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_READ_BATCH):
            if cancelled is not None and cancelled.is_set():
                raise ReadCancelled
            digest.update(piece)
    return FileRecord(path.name, path.stat().st_size, digest.hexdigest())


def damaged(name: str, file: str, what: str) -> DataCorrupt:
    """Return the error for a damaged index, with advice."""
    again = f"rebuild it with --replace, or drop it: scaar index drop {name}"
    text = f"the index {name!r} is damaged: {file} {what}; {again}"
    return DataCorrupt(text, index=name, damage=f"{file} {what}")


def dense_parts(dense: DenseDescription) -> list[object]:
    """Return the part of a version's digest that describes the vectors."""
    graph = dense.settings.hnsw
    numbers = [graph.m, graph.ef_construction, graph.ef_search] if graph else []
    words = ["words"] if dense.settings.words else []
    return [dense.encoder_revision, dense.width, dense.settings.metric, *numbers, *words]


def dense_of(content: Mapping[str, Json]) -> DenseDescription:
    """Return the description of vectors from its stored form.

    Raises:
        KeyError, TypeError, ValueError: the content is invalid.
    """
    settings = content["settings"]
    graph = settings["hnsw"]
    hnsw = graph and HnswSettings(
        m=int(graph["m"]),
        ef_construction=int(graph["ef_construction"]),
        ef_search=int(graph["ef_search"]),
    )
    return DenseDescription(
        encoder=str(content["encoder"]),
        encoder_revision=str(content["encoder_revision"]),
        width=int(content["width"]),
        settings=DenseSettings(
            VectorMetric(settings["metric"]), hnsw, words=bool(settings.get("words", False))
        ),
    )


def _manifest(content: Mapping[str, Json]) -> Manifest:
    return Manifest(
        name=str(content["name"]),
        folder=str(content["folder"]),
        version=str(content["version"]),
        passages=int(content["passages"]),
        analyzer=str(content["analyzer"]),
        k1=float(content["k1"]),
        b=float(content["b"]),
        created=str(content["created"]),
        files=tuple(
            FileRecord(str(file["name"]), int(file["size_bytes"]), str(file["sha256"]))
            for file in content["files"]
        ),
        metadata_fields=tuple(str(name) for name in content.get("metadata_fields", ())),
        content=str(content.get("content", "")),
        dense=dense_of(content["dense"]) if "dense" in content else None,
        longest=float(content.get("longest", 0.0)),
    )


def _checksum(content: Mapping[str, Json]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
