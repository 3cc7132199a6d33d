"""Store of key-value caches, so that a common prefix is read once."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from scaar.generator.engines.decoding.decoder import KeyValues

_ID_BYTES = 8


class PrefixStore:
    """LRU store of key-value caches by their tokens, bounded in bytes.

    Caches are immutable, so generations share them. Thread-safe: the lock is taken to add and
    remove entries, not to compare tokens or cut tensors. A store of 0 bytes stores nothing.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[bytes, KeyValues] = OrderedDict()
        self._lock = threading.Lock()
        self.size_bytes = 0
        """Size of the caches, in bytes."""
        self.reused_tokens = 0
        """Number of tokens found in the store since it was created."""

    def find(self, ids: Sequence[int]) -> KeyValues | None:
        """Return the cache of the longest prefix of these tokens that an entry shares, or None."""
        tokens = _key(ids)
        longest, found, longer = 0, b"", tokens[:_ID_BYTES]
        held = self._snapshot()
        for key in held:
            if longest < len(ids) and key.startswith(longer):
                longest, found = _shared(tokens, key), key
                longer = tokens[: _ID_BYTES * (longest + 1)]
        if not longest:
            return None
        self._touch(found)
        with self._lock:
            self.reused_tokens += longest
        return held[found].cut(longest)

    def put(self, ids: Sequence[int], cache: KeyValues) -> None:
        """Store the cache of these tokens, and drop the caches of their prefixes."""
        tokens, size = _key(ids), cache.size_bytes
        covered = list[bytes]()
        for key in self._snapshot():
            if key.startswith(tokens):
                self._touch(key)
                return
            if tokens.startswith(key):
                covered.append(key)
        if not 0 < size <= self._max_bytes:
            return
        with self._lock:
            for key in (*covered, tokens):
                self._drop(key)
            while self.size_bytes + size > self._max_bytes:
                self._drop(next(iter(self._entries)))
            self._entries[tokens] = cache
            self.size_bytes += size

    def _snapshot(self) -> dict[bytes, KeyValues]:
        with self._lock:
            return dict(self._entries)

    def _touch(self, key: bytes) -> None:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)

    def _drop(self, key: bytes) -> None:
        if (cache := self._entries.pop(key, None)) is not None:
            self.size_bytes -= cache.size_bytes


def _key(ids: Sequence[int]) -> bytes:
    return np.array(ids, np.int64).tobytes()


def _shared(one: bytes, other: bytes) -> int:
    """Return the number of ids at the start of both."""
    length = min(len(one), len(other)) // _ID_BYTES
    different = np.frombuffer(one, np.int64, length) != np.frombuffer(other, np.int64, length)
    return int(different.argmax()) if different.any() else length
