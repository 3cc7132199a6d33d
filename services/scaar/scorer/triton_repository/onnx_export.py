"""The ONNX file of a cross-encoder that has none, written by PyTorch from its weights."""

import shutil
from pathlib import Path

import numpy as np

from scaar.core.errors import DataCorrupt
from scaar.encoders.weights import NEEDED, Weights, open_weights
from scaar.runtime.checkpoint import MODEL_FILES
from scaar.scorer.engines.cross_encoder import open_cross_encoder
from scaar.scorer.engines.pair_reader import TokenPair
from scaar.scorer.engines.tensor_names import OUTPUT

_MOST_DRIFT = 1e-3
_COPIED = (*NEEDED, "tokenizer_config.json")


def export_onnx(folder: Path, to: Path) -> None:
    """Writes the checkpoint to ``to``, its weights as an ONNX file that gives the same logits.

    Raises:
        NotFound: the checkpoint has no tokenizer or configuration.
        CapabilityMissing: what makes the file is not installed, or cannot make it of this model.
        DataCorrupt: transformers cannot open the checkpoint, or what was written differs from it.
    """
    weights = open_weights(
        folder,
        kind="AutoModelForSequenceClassification",
        task="text-classification",
        output=OUTPUT,
        extra="scorer,transformers",
    )
    to.mkdir()
    for name in _COPIED:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, to / name)
    weights.write(to / MODEL_FILES[0], output_axes={0: "texts"})
    _compare(weights, to)


def _compare(weights: Weights, written: Path) -> None:
    """Holds what was written to the model, on a batch of another shape and with padding."""
    other = open_cross_encoder(written, threads=1)
    most = min(other.max_pair_tokens, 31)
    pairs = [TokenPair(tuple(range(2, 2 + n)), (0,) * n) for n in (most, most // 2, 3)]
    expected = weights.computed(other.padded(pairs))
    found = other.logits(pairs)
    if found.shape != expected.shape or not np.allclose(found, expected, atol=_MOST_DRIFT):
        raise DataCorrupt(f"{written}: the ONNX file does not give the logits of the model")
