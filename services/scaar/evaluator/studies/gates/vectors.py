"""Vectors of questions by a sentence encoder, computed once for a folder."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scaar.encoders.nearest_questions import of_length_1
from scaar.encoders.pooling import Array
from scaar.encoders.sentence_encoder import SentenceEncoder
from scaar.evaluator.store.files import make_folder


def vectors_of(encoder: SentenceEncoder, questions: Sequence[str], folder: Path) -> Array:
    """Return the vectors of questions at length 1, float32 [questions, width].

    They are stored in the folder, and read again for the same questions and encoder.
    """
    digest = hashlib.sha256("\n".join((encoder.revision, *questions)).encode()).hexdigest()
    path = folder / f"vectors-{digest[:12]}.npy"
    if path.is_file():
        return np.asarray(np.load(path))
    found = of_length_1(encoder.encode(questions))
    make_folder(folder)
    with path.open("wb") as file:
        np.save(file, found)
    return found
