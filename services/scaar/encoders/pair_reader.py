"""Tokenization of pairs of texts for a cross-encoder, with its checkpoint's tokenizer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tokenizers import Encoding, Tokenizer

from scaar.core.errors import DataCorrupt
from scaar.encoders.checkpoint import Checkpoint
from scaar.encoders.tensor_names import INPUTS
from scaar.encoders.tokenizer import open_tokenizer, padding_id, token_limit

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class TokenPair:
    """Tokens of a pair of texts. The length is in tokens."""

    ids: tuple[int, ...]
    type_ids: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class PairReader:
    """Tokenizes texts for one model. Thread-safe. Its methods block."""

    name: str
    max_pair_tokens: int
    tokenizer: Tokenizer
    padding: int

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoding]:
        """Tokenize each pair with the model's special tokens and without truncation.

        Text that looks like a special token is treated as ordinary text.
        """
        return list(self.tokenizer.encode_batch(list(pairs)))

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[TokenPair]:
        """Tokenize each pair without truncation."""
        return [TokenPair(tuple(each.ids), tuple(each.type_ids)) for each in self.encode(pairs)]

    def padded(
        self, pairs: Sequence[TokenPair | Encoding], *, width: int = 0
    ) -> Mapping[str, Array]:
        """Return the padded batch by input name, int64 [pairs, width].

        The batch is padded to its longest pair, or to ``width`` if that is more.
        """
        shape = (len(pairs), max(width, *(len(pair.ids) for pair in pairs)))
        ids, mask, types = np.full(shape, self.padding), np.zeros(shape, int), np.zeros(shape, int)
        for row, pair in enumerate(pairs):
            used = len(pair.ids)
            ids[row, :used], mask[row, :used], types[row, :used] = pair.ids, 1, pair.type_ids
        batch = zip(INPUTS, (ids, mask, types), strict=True)
        return {name: array.astype(np.int64, copy=False) for name, array in batch}

    def similarities_of(self, logits: Array, *, count: int) -> Array:
        """Return the similarity f in [0, 1] of each of ``count`` pairs, the sigmoid of its logit.

        Raises:
            DataCorrupt: the logits are not one finite number per pair.
        """
        if logits.shape != (count, 1) or not np.isfinite(logits).all():
            raise DataCorrupt(f"model {self.name} does not return one finite number per pair")
        # This form of the sigmoid cannot overflow.
        return np.asarray(0.5 * (1 + np.tanh(0.5 * logits[:, 0].astype(np.float64))))


def build_pair_reader(checkpoint: Checkpoint) -> PairReader:
    """Return the reader of a checkpoint. Blocks while the tokenizer is loaded.

    Raises:
        DataCorrupt: the tokenizer is invalid, or the configuration is incomplete.
    """
    return PairReader(
        name=checkpoint.name,
        max_pair_tokens=token_limit(checkpoint),
        tokenizer=open_tokenizer(checkpoint.tokenizer),
        padding=padding_id(checkpoint),
    )
