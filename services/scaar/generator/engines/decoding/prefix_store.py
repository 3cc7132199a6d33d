"""Store of key-value caches, so that a common prefix is read once."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scaar.generator.engines.decoding.decoder import Array, KeyValues


@dataclass(frozen=True, slots=True)
class _Entry:
    ids: Array
    cache: KeyValues
    size_bytes: int


class PrefixStore:
    """LRU store of key-value caches by their tokens, bounded in bytes.

    Caches are immutable, so generations share them. Thread-safe: the lock is taken to add and
    remove entries, not to compare tokens or cut tensors. A store of 0 bytes stores nothing.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self.size_bytes = 0
        """Size of the caches, in bytes."""
        self.reused_tokens = 0
        """Number of tokens found in the store since it was created."""

    def find(self, ids: Sequence[int]) -> KeyValues | None:
        """Return the cache of the longest prefix of these tokens that an entry shares, or None."""
        tokens = np.array(ids, np.int64)
        held = self._snapshot()
        shared = [_shared(tokens, entry.ids) for _, entry in held]
        longest = max(shared, default=0)
        if not longest:
            return None
        key, entry = held[shared.index(longest)]
        self._touch(key)
        with self._lock:
            self.reused_tokens += longest
        return entry.cache.cut(longest)

    def put(self, ids: Sequence[int], cache: KeyValues) -> None:
        """Store the cache of these tokens, and drop the caches of their prefixes."""
        entry = _Entry(np.array(ids, np.int64), cache, cache.size_bytes)
        covered = list[bytes]()
        for key, other in self._snapshot():
            shared = _shared(entry.ids, other.ids)
            if shared == len(entry.ids):
                self._touch(key)
                return
            if shared == len(other.ids):
                covered.append(key)
        if not 0 < entry.size_bytes <= self._max_bytes:
            return
        with self._lock:
            for key in (*covered, entry.ids.tobytes()):
                self._drop(key)
            while self.size_bytes + entry.size_bytes > self._max_bytes:
                self._drop(next(iter(self._entries)))
            self._entries[entry.ids.tobytes()] = entry
            self.size_bytes += entry.size_bytes

    def _snapshot(self) -> list[tuple[bytes, _Entry]]:
        with self._lock:
            return list(self._entries.items())

    def _touch(self, key: bytes) -> None:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)

    def _drop(self, key: bytes) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self.size_bytes -= entry.size_bytes


def _shared(one: Array, other: Array) -> int:
    """Return the length of the common prefix."""
    length = min(len(one), len(other))
    different = one[:length] != other[:length]
    first = int(different.argmax()) if length else 0
    return first if length and different[first] else length
