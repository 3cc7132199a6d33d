"""Pairs of texts as a cross-encoder reads them, by its checkpoint's tokenizer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tokenizers import Encoding, Tokenizer

from scaar.core.errors import DataCorrupt
from scaar.encoders.tokenizing import most_tokens, open_tokenizer, padding_id
from scaar.runtime.checkpoint import Checkpoint
from scaar.scorer.engines.tensor_names import INPUTS

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class TokenPair:
    """What the model reads of a pair of texts; its length is in tokens."""

    ids: tuple[int, ...]
    type_ids: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class PairReader:
    """Reads texts for one model. Safe to use from several threads; it blocks."""

    name: str
    max_pair_tokens: int
    tokenizer: Tokenizer
    padding: int

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoding]:
        """The tokens of each pair, framed as the model was trained, never cut.

        What looks like a special token in a text is read as ordinary text.
        """
        return list(self.tokenizer.encode_batch(list(pairs)))

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[TokenPair]:
        """What the model reads of each pair, never cut."""
        return [TokenPair(tuple(each.ids), tuple(each.type_ids)) for each in self.encode(pairs)]

    def padded(
        self, pairs: Sequence[TokenPair | Encoding], *, width: int = 0
    ) -> Mapping[str, Array]:
        """The batch by the names of its inputs, in whole numbers of 64 bits.

        It is as wide as its longest pair, or as ``width`` where that is more.
        """
        shape = (len(pairs), max(width, *(len(pair.ids) for pair in pairs)))
        ids, mask, types = np.full(shape, self.padding), np.zeros(shape, int), np.zeros(shape, int)
        for row, pair in enumerate(pairs):
            used = len(pair.ids)
            ids[row, :used], mask[row, :used], types[row, :used] = pair.ids, 1, pair.type_ids
        batch = zip(INPUTS, (ids, mask, types), strict=True)
        return {name: array.astype(np.int64, copy=False) for name, array in batch}

    def likeness_of(self, logits: Array, *, count: int) -> Array:
        """The likeness f in [0, 1] of each of ``count`` pairs: the sigmoid of its logit.

        Raises:
            DataCorrupt: there is not one number for a pair.
        """
        if logits.shape != (count, 1) or not np.isfinite(logits).all():
            raise DataCorrupt(f"model {self.name} does not give one number for a pair")
        # The form of the sigmoid that cannot overflow.
        return np.asarray(0.5 * (1 + np.tanh(0.5 * logits[:, 0].astype(np.float64))))


def build_pair_reader(checkpoint: Checkpoint) -> PairReader:
    """The reader of a checkpoint's model; blocks while it reads the tokenizer.

    Raises:
        DataCorrupt: the tokenizer is none, or the configuration does not say what is needed.
    """
    return PairReader(
        name=checkpoint.name,
        max_pair_tokens=most_tokens(checkpoint),
        tokenizer=open_tokenizer(checkpoint.tokenizer),
        padding=padding_id(checkpoint),
    )
