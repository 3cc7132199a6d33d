"""Interface of the decoder of an embedded engine."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np

if TYPE_CHECKING:
    from scaar.generator.engines.decoding.row_batch import RowBatch

Array = np.ndarray[Any, Any]


class KeyValues(Protocol):
    """Keys and values of the tokens that a decoder has read.

    Immutable, so several generations can continue from the same cache.
    """

    @property
    def length(self) -> int:
        """Number of tokens read."""
        ...

    @property
    def size_bytes(self) -> int:
        """Size in memory, in bytes."""
        ...

    def cut(self, length: int) -> Self:
        """Return the cache of the first ``length`` tokens, in memory of its own."""
        ...


_Cache = TypeVar("_Cache", bound=KeyValues)


class Decoder(Protocol[_Cache]):
    """A decoder model. Thread-safe; its methods block."""

    gives_attention: bool
    """Whether :meth:`step_attending` and :meth:`step_attended` may be called."""
    hidden_layers: int | None
    """Number of layers; None if :meth:`step_with_state` must not be called."""
    gives_batches: bool
    """Whether :meth:`open_batch` may be called."""

    def begin(self) -> _Cache:
        """Return the empty cache."""
        ...

    def step(self, ids: Sequence[int], cache: _Cache) -> tuple[Array, _Cache]:
        """Read more tokens and return the logits [vocabulary] and the new cache.

        The given cache is unchanged.
        """
        ...

    def step_attending(self, ids: Sequence[int], cache: _Cache) -> tuple[Array, Array, _Cache]:
        """Like :meth:`step`, and return attention [new tokens, all tokens] as the second item.

        The attention is that of the last layer, averaged over heads.
        """
        ...

    def step_attended(self, ids: Sequence[int], cache: _Cache) -> tuple[Array, _Cache]:
        """Read more tokens and return the attention that they pay [heads, all tokens], and cache.

        To each token, that is the maximum over the new tokens in each head of the last layer.
        """
        ...

    def step_with_state(
        self, ids: Sequence[int], cache: _Cache, layer: int
    ) -> tuple[Array, Array, _Cache]:
        """Like :meth:`step`, and return the last token's state [size] as the second item.

        Layer 0 is the embeddings, ``hidden_layers`` the last layer after the final normalisation.
        """
        ...

    def step_whole(self, ids: Sequence[int], cache: _Cache) -> tuple[Array, _Cache]:
        """Like :meth:`step`, with the logits [new tokens, vocabulary] after every token."""
        ...

    def open_batch(self) -> "RowBatch[_Cache]":
        """Return an empty batch, in which one run continues several texts."""
        ...
