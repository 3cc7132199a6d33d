"""Sentence encoder as the scorer's model; the similarity is the cosine of two vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scaar.encoders.pair_reader import Array
from scaar.encoders.sentence_encoder import SentenceEncoder, Tokens
from scaar.encoders.shared import open_shared_encoder


@dataclass(frozen=True, slots=True)
class TextPair:
    """Tokens of two texts, each encoded by itself. The length is that of the longer text."""

    text: Tokens
    altered: Tokens

    def __len__(self) -> int:
        return max(len(self.text), len(self.altered))


@dataclass(frozen=True, slots=True)
class BiEncoder:
    """An open model. Thread-safe. Its methods block."""

    encoder: SentenceEncoder

    @property
    def name(self) -> str:
        """Name of the model's folder."""
        return self.encoder.name

    @property
    def revision(self) -> str:
        """Equal revisions give equal similarities."""
        return self.encoder.revision

    @property
    def max_pair_tokens(self) -> int:
        """Maximum length of a text, in tokens."""
        return self.encoder.max_tokens

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[TextPair]:
        """Tokenize each pair without truncation. Equal texts are tokenized once."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        tokens = dict(zip(texts, self.encoder.tokens(texts), strict=True))
        return [TextPair(tokens[text], tokens[altered]) for text, altered in pairs]

    def similarities(self, pairs: Sequence[TextPair], *, width: int = 0) -> Array:
        """Return the cosine of each pair's vectors, from -1 to 1. Equal texts are encoded once.

        ``width`` is ignored; it is for models whose batches are padded to a width.

        Raises:
            DataCorrupt: the output of the model is invalid.
            ScaarError: ONNX Runtime cannot run the batch, for example for lack of memory.
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
    """Open a model. Blocks while the files are read.

    Raises:
        NotFound: the folder, or a required file, is missing.
        DataCorrupt: a file is damaged, or the model is not a supported sentence encoder.
    """
    return BiEncoder(open_shared_encoder(folder, threads=threads))
