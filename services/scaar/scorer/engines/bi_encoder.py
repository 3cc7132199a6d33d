"""A sentence encoder as a scorer's model: the likeness of two texts is their vectors' cosine."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scaar.encoders.sentence_encoder import SentenceEncoder, Tokens
from scaar.scorer.engines.pair_reader import Array


@dataclass(frozen=True, slots=True)
class TextPair:
    """What the model reads of two texts, each by itself; its length is the longer one's."""

    text: Tokens
    altered: Tokens

    def __len__(self) -> int:
        return max(len(self.text), len(self.altered))


@dataclass(frozen=True, slots=True)
class BiEncoder:
    """An open model. Safe to use from several threads; it blocks while it computes."""

    encoder: SentenceEncoder

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.encoder.name

    @property
    def revision(self) -> str:
        """Equal revisions give equal likenesses."""
        return self.encoder.revision

    @property
    def max_pair_tokens(self) -> int:
        """The longest text."""
        return self.encoder.max_tokens

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[TextPair]:
        """What the model reads of each pair, never cut; a text that occurs again is read once."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        tokens = dict(zip(texts, self.encoder.tokens(texts), strict=True))
        return [TextPair(tokens[text], tokens[altered]) for text, altered in pairs]

    def likeness(self, pairs: Sequence[TextPair], *, width: int = 0) -> Array:
        """The cosine of each pair's vectors, from -1 to 1; a text that occurs again is read once.

        ``width`` is for models that a batch must be filled up for, and of no use here.

        Raises:
            DataCorrupt: the model gives no vectors.
            ScaarError: ONNX Runtime cannot run it, for want of memory for example.
        """
        texts = list(dict.fromkeys(each for pair in pairs for each in (pair.text, pair.altered)))
        vectors = self.encoder.encode_tokens(texts).astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1.0)
        rows = {text: row for row, text in enumerate(texts)}
        left = vectors[[rows[pair.text] for pair in pairs]]
        right = vectors[[rows[pair.altered] for pair in pairs]]
        return np.asarray((left * right).sum(axis=1))


def open_bi_encoder(folder: Path, *, threads: int) -> BiEncoder:
    """Opens a model; blocks while it reads the files.

    Raises:
        NotFound: the folder, or a file that is needed, is not there.
        DataCorrupt: a file is damaged, or not of a sentence encoder that is known here.
    """
    return BiEncoder(SentenceEncoder.open(folder, threads=threads))
