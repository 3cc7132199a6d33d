"""Reading of the header of a GGUF file, which may be hostile.

A header is the magic, the version, the numbers of tensors and of metadata entries, the entries and
the descriptions of the tensors (ggml's docs/gguf.md). Every length is compared with the rest of the
file before it is used, values of arrays are skipped, and the number of elements is bounded, so that
neither memory nor time exceeds what a real model needs.
"""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scaar.core.errors import DataCorrupt, NotFound

MAX_ENTRIES = 10_000
MAX_TENSORS = 100_000
MAX_ELEMENTS = 8_000_000
"""Maximum number of elements of all arrays together; a vocabulary of 262,144 tokens has 1.3 million
in its tokens, types, scores and merges."""
MAX_TEXT_BYTES = 32_000_000
"""Maximum length of all texts together that are no elements of arrays: keys, and values such as the
chat template or, in some files, the whole tokenizer as JSON."""

_MAGIC, _VERSIONS = b"GGUF", (2, 3)
_TEXT, _ARRAY = 8, 9
_NUMBERS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q",
    12: "<d",
}  # fmt: skip
_MAX_DIMENSIONS = 8
_MAX_KEPT = 1_000
"""Arrays of numbers up to this length are kept: one number for each layer."""

Value = int | float | bool | str | tuple[int | float | bool, ...]


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """Metadata of a GGUF file. Long arrays and arrays of texts are left out."""

    entries: Mapping[str, Value]
    lengths: Mapping[str, int]
    """Number of elements of every array."""
    tensors: int


def read_header(path: Path) -> GgufHeader:
    """Read the header of a file.

    Raises:
        NotFound: the file cannot be read.
        DataCorrupt: it is no GGUF file, is truncated or has a damaged header.
    """
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise DataCorrupt(f"{path} is empty: download or copy it again")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _Reader(content, path).header()
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from error


class _Reader:
    def __init__(self, content: mmap.mmap, path: Path) -> None:
        self._content = content
        self._size = len(content)
        self._path = path
        self._at = 0
        self._elements = 0
        self._text_bytes = 0

    def header(self) -> GgufHeader:
        if self._content[:4] != _MAGIC:
            raise DataCorrupt(
                f"{self._path} is not a GGUF file: set SCAAR_GENERATOR_MODEL to a model in this "
                "format"
            )
        self._at = 4
        version = int(self._number("<I"))
        if version not in _VERSIONS:
            order = "for another byte order" if version & 0xFFFF == 0 else f"of version {version}"
            raise DataCorrupt(
                f"{self._path} is a GGUF file {order}: convert the model again, to version 3"
            )
        tensors = self._count(MAX_TENSORS, "tensors")
        number = self._count(MAX_ENTRIES, "entries")
        entries: dict[str, Value] = {}
        lengths: dict[str, int] = {}
        for _ in range(number):
            key, kind = self._text(), int(self._number("<I"))
            if kind != _ARRAY:
                entries[key] = self._value(kind)
                continue
            lengths[key], numbers = self._array()
            if numbers is not None:
                entries[key] = numbers
        self._check_tensors(tensors, alignment=entries.get("general.alignment", 32))
        return GgufHeader(entries, lengths, tensors)

    def _value(self, kind: int) -> Value:
        if kind == _TEXT:
            return self._text()
        if kind not in _NUMBERS:
            raise self._damaged(f"an entry of the unknown type {kind}")
        return self._number(_NUMBERS[kind])

    def _array(self) -> tuple[int, tuple[int | float | bool, ...] | None]:
        """Return the length of an array and, if they are few, its numbers."""
        kind, length = int(self._number("<I")), int(self._number("<Q"))
        self._elements += length
        if self._elements > MAX_ELEMENTS:
            raise self._damaged(f"arrays of more than {MAX_ELEMENTS:,} elements")
        if kind == _TEXT:
            for _ in range(length):
                self._take(int(self._number("<Q")))
            return length, None
        if kind not in _NUMBERS:
            raise self._damaged(f"an array of the type {kind}")
        width = struct.calcsize(_NUMBERS[kind])
        start = self._take(length * width)
        if length > _MAX_KEPT:
            return length, None
        kept = self._content[start : self._at]
        return length, tuple(number for (number,) in struct.iter_unpack(_NUMBERS[kind], kept))

    def _check_tensors(self, number: int, *, alignment: Value) -> None:
        """Check that the file is long enough for the start of every tensor."""
        if not isinstance(alignment, int) or not 1 <= alignment <= 1 << 20:
            raise self._damaged("an alignment that is no number up to 1,048,576")
        last = 0
        for _ in range(number):
            self._take(int(self._number("<Q")))
            dimensions = int(self._number("<I"))
            if dimensions > _MAX_DIMENSIONS:
                raise self._damaged(f"a tensor of {dimensions} dimensions")
            self._take(8 * dimensions + 4)
            last = max(last, int(self._number("<Q")))
        start = -(-self._at // alignment) * alignment
        if number and start + last >= self._size:
            raise self._truncated()

    def _count(self, limit: int, what: str) -> int:
        count = int(self._number("<Q"))
        if count > limit:
            raise self._damaged(f"{count:,} {what}, more than {limit:,}")
        return count

    def _number(self, form: str) -> int | float | bool:
        start = self._take(struct.calcsize(form))
        number: int | float | bool = struct.unpack_from(form, self._content, start)[0]
        return number

    def _text(self) -> str:
        length = int(self._number("<Q"))
        start = self._take(length)
        self._text_bytes += length
        if self._text_bytes > MAX_TEXT_BYTES:
            raise self._damaged(f"texts of more than {MAX_TEXT_BYTES:,} bytes")
        return self._content[start : self._at].decode(errors="replace")

    def _take(self, length: int) -> int:
        """Return the position, and advance it by ``length`` bytes."""
        start = self._at
        if length > self._size - start:
            raise self._truncated()
        self._at = start + length
        return start

    def _truncated(self) -> DataCorrupt:
        return DataCorrupt(
            f"{self._path} is truncated at {self._size:,} bytes, or its header is damaged: "
            "download or copy it again"
        )

    def _damaged(self, what: str) -> DataCorrupt:
        return DataCorrupt(
            f"{self._path} has a damaged header, with {what}: download or copy it again"
        )
