"""What an index holds, as a number that passages can be added to and taken from."""

import hashlib
import json

from scaar.core.types import Passage
from scaar.retriever.metadata import metadata_to_json

_MODULUS = 1 << 256


class PassageSum:
    """A set of passages as the sum of their digests, whatever their order."""

    def __init__(self, total: str = "0", passages: int = 0) -> None:
        self._total = int(total, 16)
        self.passages = passages

    @property
    def total(self) -> str:
        """The sum, as it is kept with the index."""
        return f"{self._total:064x}"

    def add(self, passage: Passage) -> None:
        """Puts in a passage that is not there."""
        self._total = (self._total + _digest(passage)) % _MODULUS
        self.passages += 1

    def remove(self, passage: Passage) -> None:
        """Takes out a passage that is there."""
        self._total = (self._total - _digest(passage)) % _MODULUS
        self.passages -= 1


def _digest(passage: Passage) -> int:
    parts: list[object] = [passage.id, passage.title, passage.text]
    if passage.metadata:
        parts.append(metadata_to_json(passage.metadata))
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode()).digest(), "big")
