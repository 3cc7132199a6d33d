"""Chunked reading of a growing text into a key-value cache."""

from collections.abc import Sequence
from typing import Any

from scaar.generator.engines.decoding.decoder import Array, Decoder, KeyValues
from scaar.generator.engines.decoding.prefix_store import PrefixStore
from scaar.generator.engines.decoding.row_batch import Row, RowBatch

CHUNK_TOKENS = 256
"""Maximum number of tokens of one run, so that generations alternate with a long prompt."""


class Prefill:
    """A growing text and the key-value cache of its tokens.

    No run reads a single token: the token before it is read again. A runtime sums a single row in
    another order than several rows, and the results differ in the sixth digit. So a text has the
    same log-probabilities whether it was read, written or found in the cache.
    """

    def __init__(self, decoder: Decoder[Any], store: PrefixStore, ids: Sequence[int]) -> None:
        """Look up the tokens, at least one, in the store."""
        self._decoder = decoder
        self._store = store
        self._ids = list(ids)
        # The logits of the last token are needed, and it is not run alone.
        self._cache = store.find(self._ids[:-2]) or decoder.begin()
        self._before = self._cache
        self._row: Row[Any] | None = None
        self.paid: Array | None = None
        """Attention of the last token to all tokens, if the last run requested it."""
        self.state: Array | None = None
        """Hidden state of the last token, if the last run requested it."""

    @property
    def unread(self) -> int:
        """Number of tokens that have not been read."""
        return len(self._ids) - (self._row or self._cache).length

    @property
    def last_id(self) -> int:
        """The last token."""
        return self._ids[-1]

    def append(self, token: int) -> None:
        """Append a token."""
        self._ids.append(token)

    def run(self, *, attention: bool = False, hidden_layer: int | None = None) -> Array:
        """Read the next chunk and return the logits [vocabulary] after its last token.

        With ``attention``, the attention of that token is in :attr:`paid`; with a ``hidden_layer``,
        its state is in :attr:`state`.
        """
        self._leave()
        past = self._cache if self.unread > 1 else self._shorter()
        chunk = self._ids[past.length :][:CHUNK_TOKENS]
        last = past.length + len(chunk) == len(self._ids)
        if last and hidden_layer is not None:
            logits, self.state, cache = self._decoder.step_with_state(chunk, past, hidden_layer)
        elif not (last and attention):
            logits, cache = self._decoder.step(chunk, past)
        if last and attention:
            logits, weights, cache = self._decoder.step_attending(chunk, past)
            self.paid = weights[-1]
        self._before, self._cache = self._cache, cache
        return logits

    def join(self, batch: RowBatch[Any]) -> Row[Any]:
        """Add the text, of which only the last token is unread, to a batch, and return its row.

        Until the next :meth:`run`, the batch reads its tokens. Several rows make several rows of
        numbers, so a token is read without the one before it.
        """
        self._leave()
        self._row = batch.join(self._cache)
        return self._row

    def store(self) -> None:
        """Store what has been read, without the run in progress."""
        cache = self._row.cache() if self._row else self._cache
        self._store.put(self._ids[: cache.length], cache)

    def _leave(self) -> None:
        if self._row is not None:
            self._before = self._cache = self._row.cache()
            self._row = None

    def _shorter(self) -> KeyValues:
        """Return the cache without its last token."""
        length = max(0, self._cache.length - 1)
        # While tokens are written one by one, this is the cache of the previous run.
        return self._before if self._before.length == length else self._cache.cut(length)
