"""Key-value caches of several texts in one tensor, so that one run continues all of them."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from scaar.generator.engines.decoding.decoder import Array, KeyValues

_Cache = TypeVar("_Cache", bound=KeyValues)


class Inputs(NamedTuple):
    """Inputs of a run that reads one token of every row.

    ``ids`` and ``positions`` are [rows, 1]; ``mask`` [rows, past + 1] is 1 where a row has a token;
    ``tensors`` are the keys and values [rows, heads, past, head size].
    """

    ids: Array
    mask: Array
    positions: Array
    tensors: tuple[Any, ...]


class Outputs(NamedTuple):
    """Outputs of a run: logits [rows, vocabulary], and keys and values with the new token.

    ``weights`` [rows, past + 1] is the attention of the new tokens, the mean over the heads of the
    last layer; None unless it was requested.
    """

    logits: Array
    tensors: tuple[Any, ...]
    weights: Array | None = None


class Tensors(Protocol[_Cache]):
    """Operations on the tensors of a decoder, whose last but one axis is that of the tokens."""

    def unpack(self, cache: _Cache) -> tuple[Any, ...]:
        """Return the tensors of a cache, keys and values of every layer."""
        ...

    def pack(self, length: int, tensors: tuple[Any, ...]) -> _Cache:
        """Return the cache of tensors, in memory of its own."""
        ...

    def zeros(self, shape: Sequence[int], like: Any) -> Any:
        """Return zeros of the type of another tensor."""
        ...

    def join(self, tensors: Sequence[Any], axis: int) -> Any:
        """Concatenate tensors."""
        ...

    def run(self, inputs: Inputs, *, attention: bool) -> Outputs:
        """Read a token of every row."""
        ...


class Row(Generic[_Cache]):
    """A text in a batch. Its cache can be taken at any time, even after it has left the batch."""

    def __init__(self, take: Callable[[int, tuple[Any, ...], int], _Cache]) -> None:
        self._take = take
        self._place: tuple[int, tuple[Any, ...], int] = (0, (), 0)

    @property
    def length(self) -> int:
        """Number of tokens read."""
        return self._place[0]

    def cache(self) -> _Cache:
        """Return the cache of the text, in memory of its own."""
        return self._take(*self._place)

    def move(self, length: int, tensors: tuple[Any, ...], index: int) -> None:
        """Set where the row is; the tensors never change."""
        self._place = (length, tensors, index)


class RowBatch(Generic[_Cache]):
    """Texts of different lengths, aligned at their last token by padding on the left.

    Its methods block, and are called one at a time. Padding is masked, so that a row has the
    numbers that it has alone, but for the order of the runtime's sums.
    """

    def __init__(self, tensors: Tensors[_Cache]) -> None:
        self._of = tensors
        self._held: tuple[Any, ...] = ()
        self._width = 0
        self.rows: list[Row[_Cache]] = []

    def join(self, cache: _Cache) -> Row[_Cache]:
        """Add a text, of at least one token, as the last row."""
        row, added, before = Row(self._cache), self._of.unpack(cache), self._width
        self._width = max(before, cache.length)
        if self.rows:
            self._held = tuple(
                self._of.join((self._padded(held, before), self._padded(new, cache.length)), axis=0)
                for held, new in zip(self._held, added, strict=True)
            )
        else:
            self._held = added
        self.rows.append(row)
        self._place([*(each.length for each in self.rows[:-1]), cache.length])
        return row

    def leave(self, leaving: Collection[Row[_Cache]]) -> None:
        """Remove rows, and the padding that no other row needs."""
        kept = [number for number, row in enumerate(self.rows) if row not in leaving]
        if len(kept) == len(self.rows):
            return
        self.rows = [self.rows[number] for number in kept]
        width = max((row.length for row in self.rows), default=0)
        padding = self._width - width
        self._held = tuple(each[kept][:, :, padding:] for each in self._held) if kept else ()
        self._width = width
        self._place([row.length for row in self.rows])

    def step(
        self, tokens: Sequence[int], *, attention: bool = False
    ) -> list[tuple[Array, Array | None]]:
        """Read a token of every row, in the order of ``rows``.

        Return the logits [vocabulary] of each row and, with ``attention``, the attention of its
        token to all of its tokens, the last one included.
        """
        lengths, width = [row.length for row in self.rows], self._width + 1
        mask = np.zeros((len(lengths), width), np.int64)
        for number, length in enumerate(lengths):
            mask[number, width - 1 - length :] = 1
        positions = np.array(lengths, np.int64)[:, None]
        ids = np.array(tokens, np.int64)[:, None]
        read = self._of.run(Inputs(ids, mask, positions, self._held), attention=attention)
        self._held, self._width = read.tensors, width
        self._place([length + 1 for length in lengths])
        weights = read.weights
        return [
            (
                read.logits[number],
                None if weights is None else weights[number, width - 1 - length :],
            )
            for number, length in enumerate(lengths)
        ]

    def _padded(self, tensor: Any, width: int) -> Any:
        """Return a tensor of ``width`` tokens with as much padding as the batch requires."""
        missing = self._width - width
        if not missing:
            return tensor
        rows, heads, _, size = tensor.shape
        return self._of.join((self._of.zeros((rows, heads, missing, size), tensor), tensor), axis=2)

    def _place(self, lengths: Sequence[int]) -> None:
        for number, (row, length) in enumerate(zip(self.rows, lengths, strict=True)):
            row.move(length, self._held, number)

    def _cache(self, length: int, tensors: tuple[Any, ...], index: int) -> _Cache:
        rows = (each[index : index + 1, :, each.shape[2] - length :] for each in tensors)
        return self._of.pack(length, tuple(rows))
