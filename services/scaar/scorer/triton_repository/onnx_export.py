"""Export of a cross-encoder's weights to ONNX by PyTorch."""

import shutil
from pathlib import Path

import numpy as np

from scaar.core.errors import DataCorrupt
from scaar.encoders.checkpoint import MODEL_FILES
from scaar.encoders.cross_encoder import open_cross_encoder
from scaar.encoders.pair_reader import TokenPair
from scaar.encoders.tensor_names import OUTPUT
from scaar.encoders.weights import NEEDED, Weights, open_weights

_MAX_DRIFT = 1e-3
_COPIED = (*NEEDED, "tokenizer_config.json")


def export_onnx(folder: Path, to: Path) -> None:
    """Write the checkpoint to ``to``, with an ONNX file that returns the same logits.

    Raises:
        NotFound: the checkpoint has no tokenizer or configuration.
        CapabilityMissing: the libraries are not installed, or cannot export this model.
        DataCorrupt: transformers cannot open the checkpoint, or the ONNX file differs from it.
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
    """Compare the ONNX file with the model, on a batch of another shape with padding."""
    other = open_cross_encoder(written, threads=1)
    longest = min(other.max_pair_tokens, 31)
    pairs = [TokenPair(tuple(range(2, 2 + n)), (0,) * n) for n in (longest, longest // 2, 3)]
    expected = weights.computed(other.padded(pairs))
    found = other.logits(pairs)
    if found.shape != expected.shape or not np.allclose(found, expected, atol=_MAX_DRIFT):
        raise DataCorrupt(f"{written}: the logits of the ONNX file differ from the model's")
