"""Digest of the passages of an index, updated as passages are added and removed."""

import hashlib
import json

from scaar.core.types import Passage
from scaar.retriever.metadata import metadata_to_json

_MODULUS = 1 << 256


class PassageSum:
    """Sum of the digests of a set of passages. The order of the passages does not matter."""

    def __init__(self, total: str = "0", passages: int = 0) -> None:
        self._total = int(total, 16)
        self.passages = passages

    @property
    def total(self) -> str:
        """The sum, as stored with the index."""
        return f"{self._total:064x}"

    def add(self, passage: Passage) -> None:
        """Add a passage that is not in the set."""
        self._total = (self._total + _digest(passage)) % _MODULUS
        self.passages += 1

    def remove(self, passage: Passage) -> None:
        """Remove a passage that is in the set."""
        self._total = (self._total - _digest(passage)) % _MODULUS
        self.passages -= 1


def _digest(passage: Passage) -> int:
    parts: list[object] = [passage.id, passage.title, passage.text]
    if passage.metadata:
        parts.append(metadata_to_json(passage.metadata))
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode()).digest(), "big")
