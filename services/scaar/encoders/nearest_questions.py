"""The questions whose vectors are nearest to that of a question: exact search by cosine."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scaar.core.errors import InvalidRequest
from scaar.core.gates.skr import QuestionVectors
from scaar.encoders.pooling import Array
from scaar.encoders.sentence_encoder import SentenceEncoder

_NUMBERS = "<f4"


class EncodedQuestions:
    """Questions with vectors, and the encoder of further ones."""

    def __init__(self, encoder: SentenceEncoder, vectors: Array) -> None:
        self._encoder = encoder
        self._vectors = of_length_1(vectors)

    async def nearest(self, question: str, count: int) -> Sequence[int]:
        """Return the positions of the nearest questions; of equally near ones, the first."""
        return await asyncio.to_thread(self._nearest, question, count)

    def _nearest(self, question: str, count: int) -> Sequence[int]:
        (vector,) = of_length_1(self._encoder.encode([question]))
        return [int(each) for each in nearest_first(self._vectors @ vector)[:count]]


def open_nearest_questions(vectors: QuestionVectors, folder: Path) -> EncodedQuestions:
    """Return the search of the vectors by the encoder in a folder. Blocks while it is read.

    Raises:
        NotFound: the folder, or a required file, is missing.
        DataCorrupt: a file is damaged, or the encoder is not supported.
        InvalidRequest: the encoder is not that of the vectors.
    """
    encoder = SentenceEncoder.open(folder, threads=1)
    if encoder.revision != vectors.encoder_revision or encoder.width != vectors.width:
        text = (
            f"must have the encoder of the gate's file, {vectors.encoder} "
            f"{vectors.encoder_revision}, not {encoder.name} {encoder.revision}"
        )
        raise InvalidRequest.of("gate_encoder", text)
    rows = np.frombuffer(vectors.data, _NUMBERS).reshape(-1, vectors.width)
    return EncodedQuestions(encoder, rows)


def question_vectors(encoder: SentenceEncoder, vectors: Array) -> QuestionVectors:
    """Return vectors of the encoder for the file of a gate."""
    data = np.ascontiguousarray(vectors, _NUMBERS).tobytes()
    return QuestionVectors(encoder.name, encoder.revision, encoder.width, data)


def nearest_first(similarities: Array) -> Array:
    """Return the positions by falling similarity; of equal ones, the first comes first."""
    return np.argsort(-similarities, axis=-1, kind="stable")


def of_length_1(vectors: Array) -> Array:
    """Return the vectors at length 1; a zero vector stays."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), np.float32)
