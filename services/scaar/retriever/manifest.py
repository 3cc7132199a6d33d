"""An index's manifest: what it is, how it was built, and the files that it consists of."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scaar.core.errors import DataCorrupt
from scaar.core.types import IndexDescription

FORMAT = 1
ENGINE = "bm25s"
MANIFEST_FILE = "manifest.json"

# A manifest is JSON.
Json = Any


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file of an index."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index is. ``folder`` holds its files, beside the manifest."""

    name: str
    folder: str
    version: str
    """SHA-256 over analyzer, k1, b and every passage: equal versions give equal results."""
    passages: int
    analyzer: str
    k1: float
    b: float
    created: str
    files: tuple[FileRecord, ...]

    def description(self) -> IndexDescription:
        """The index as the port describes it."""
        return IndexDescription(
            name=self.name,
            version=self.version,
            passages=self.passages,
            engine=ENGINE,
            k1=self.k1,
            b=self.b,
            created=self.created,
            size_bytes=sum(file.size_bytes for file in self.files),
        )

    def encode(self) -> bytes:
        """The manifest as it is on disk, with a checksum of its own."""
        content = {"format": FORMAT, "engine": ENGINE, **asdict(self)}
        return json.dumps({**content, "checksum": _checksum(content)}, indent=1).encode()


def decode_manifest(data: bytes, name: str) -> Manifest:
    """The manifest of the index ``name``, as it was read from disk.

    Raises:
        DataCorrupt: it is damaged, or of another format.
    """
    try:
        content = json.loads(data)
        checksum = content.pop("checksum")
        if content["format"] != FORMAT:
            raise damaged(name, MANIFEST_FILE, f"is of format {content['format']}, not {FORMAT}")
        if checksum != _checksum(content):
            raise ValueError("the checksum differs")
        manifest = _manifest(content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(name, MANIFEST_FILE, "cannot be read") from error
    if manifest.name != name:
        raise damaged(name, MANIFEST_FILE, f"is of the index {manifest.name!r}")
    return manifest


def file_record(path: Path) -> FileRecord:
    """The record of a file as it is now."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileRecord(path.name, path.stat().st_size, digest)


def damaged(name: str, file: str, what: str) -> DataCorrupt:
    """The error for an index that does not hold together, and what to do about it."""
    again = f"build it again with --replace, or drop it: scaar index drop {name}"
    return DataCorrupt(f"the index {name!r} is damaged: {file} {what}; {again}", index=name)


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
    )


def _checksum(content: Mapping[str, Json]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
