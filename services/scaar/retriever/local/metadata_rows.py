"""Inverted index of metadata: the sorted rows for each field and value, memory-mapped.

::

    metadata_keys.npy           every pair of field and value once, sorted, as concatenated bytes
    metadata_key_offsets.npy    the start of each pair, and the end of the last one
    metadata_rows.npy           the rows of passages with the first pair, then the second, ...
    metadata_row_offsets.npy    the start of each pair's rows, and the end of the last one's
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from scaar.core.types import Filter, MetadataField

Array = np.ndarray[tuple[int], np.dtype[Any]]

FILES = {name: f"metadata_{name}.npy" for name in ("keys", "key_offsets", "rows", "row_offsets")}


class RowsBuilder:
    """Collects the fields of passages, then builds the arrays."""

    def __init__(self) -> None:
        self._rows: dict[bytes, array[int]] = {}

    def add(self, row: int, metadata: Sequence[MetadataField]) -> None:
        """Add the fields of a passage. Rows must be in order."""
        for key in {_key(each.name, value) for each in metadata for value in each.values}:
            self._rows.setdefault(key, array("i")).append(row)

    def arrays(self) -> Mapping[str, Array]:
        """Return the arrays of the added fields, by name."""
        keys = sorted(self._rows)
        rows = [np.asarray(self._rows[key], dtype=np.int32) for key in keys]
        return {
            "keys": np.frombuffer(b"".join(keys), dtype=np.uint8),
            "key_offsets": _offsets(len(key) for key in keys),
            "rows": np.concatenate(rows) if rows else np.empty(0, dtype=np.int32),
            "row_offsets": _offsets(len(each) for each in rows),
        }

    def write(self, folder: Path) -> None:
        """Write the arrays to files."""
        for name, each in self.arrays().items():
            np.save(folder / FILES[name], each)


class MetadataRows:
    """The arrays of an index, memory-mapped."""

    def __init__(self, folder: Path) -> None:
        self.arrays: Mapping[str, Array] = {
            name: np.load(folder / file, mmap_mode="r") for name, file in FILES.items()
        }

    @property
    def is_consistent(self) -> bool:
        """Whether the lengths of the arrays agree."""
        arrays = self.arrays
        return (
            len(arrays["key_offsets"]) == len(arrays["row_offsets"]) >= 1
            and int(arrays["key_offsets"][-1]) == len(arrays["keys"])
            and int(arrays["row_offsets"][-1]) == len(arrays["rows"])
        )

    def matching_rows(self, filters: Sequence[Filter]) -> Array:
        """Return the sorted rows of passages that match all filters. At least one is required."""
        fits = (self._any_of(each.field, each.values) for each in filters)
        return reduce(lambda one, other: np.intersect1d(one, other, assume_unique=True), fits)

    def _any_of(self, field: str, values: Sequence[str]) -> Array:
        found = [self._carrying(_key(field, value)) for value in dict.fromkeys(values)]
        return found[0] if len(found) == 1 else np.unique(np.concatenate(found))

    def _carrying(self, key: bytes) -> Array:
        count = len(self.arrays["key_offsets"]) - 1
        place = bisect_left(range(count), key, key=self._key_at)
        if place == count or self._key_at(place) != key:
            return np.empty(0, dtype=np.int32)
        offsets = self.arrays["row_offsets"]
        return self.arrays["rows"][int(offsets[place]) : int(offsets[place + 1])]

    def _key_at(self, place: int) -> bytes:
        offsets = self.arrays["key_offsets"]
        return self.arrays["keys"][int(offsets[place]) : int(offsets[place + 1])].tobytes()


def _key(field: str, value: str) -> bytes:
    # Neither field names nor values contain the separator.
    return f"{field}\0{value}".encode(errors="replace")


def _offsets(lengths: Iterator[int]) -> Array:
    offsets = array("q", [0])
    for length in lengths:
        offsets.append(offsets[-1] + length)
    return np.asarray(offsets, dtype=np.int64)
