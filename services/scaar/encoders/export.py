"""Export of a sentence encoder's weights to ONNX, for folders without an ONNX file."""

import shutil
import tempfile
from pathlib import Path

import numpy as np

from scaar.core.errors import AlreadyExists, DataCorrupt, InvalidRequest, NotFound
from scaar.encoders.checkpoint import MODEL_FILES
from scaar.encoders.pooling import read_recipe
from scaar.encoders.sentence_encoder import SentenceEncoder
from scaar.encoders.tensor_names import OUTPUTS
from scaar.encoders.weights import Weights, open_weights
from scaar.runtime.disk import write_problem

_MAX_DRIFT = 1e-4
_COPIED = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "modules.json",
    "sentence_bert_config.json",
)
_TEXTS = (
    "Who wrote it?",
    "The house by the sea was built in 1904 and sold again eleven years later.",
    "",
)


def export_encoder(folder: Path, to: Path) -> SentenceEncoder:
    """Write the encoder to ``to`` atomically, and return the open encoder.

    An ONNX file in the folder is checked and copied. Otherwise PyTorch creates one from the
    weights, and its vectors are compared with theirs.

    Raises:
        AlreadyExists: ``to`` exists.
        NotFound: the folder, or a required file, is missing.
        CapabilityMissing: the libraries are not installed, or cannot export this model.
        DataCorrupt: a file is damaged, or the ONNX file differs from the weights.
        InvalidRequest: ``to`` cannot be written.
    """
    if not folder.is_dir():
        raise NotFound(f"the model folder {folder} does not exist")
    if to.exists():
        raise AlreadyExists(f"{to} exists already; choose another folder")
    if not to.parent.is_dir():
        raise InvalidRequest.of("--to", f"the parent folder {to.parent} must exist")
    read_recipe(folder)
    given = [folder / name for name in MODEL_FILES if (folder / name).is_file()]
    if given:
        SentenceEncoder.open(folder, threads=1).encode(_TEXTS)
    model = given[0] if given else _weights(folder)
    try:
        with tempfile.TemporaryDirectory(dir=to.parent, prefix=f".{to.name}-") as work:
            new = Path(work, to.name)
            _write(folder, new, model)
            new.replace(to)
    except OSError as error:
        raise InvalidRequest.of("--to", write_problem(to, error)) from error
    return SentenceEncoder.open(to, threads=1)


def _write(folder: Path, new: Path, model: Path | Weights) -> None:
    new.mkdir()
    for name in _COPIED:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, new / name)
    for config in folder.glob("*_Pooling/config.json"):
        (new / config.parent.name).mkdir()
        shutil.copyfile(config, new / config.parent.name / config.name)
    if isinstance(model, Path):
        shutil.copyfile(model, new / MODEL_FILES[0])
        # Weights of more than 2 GB are in files beside the model, which refers to them.
        for beside in model.parent.glob(f"{model.name}?data*"):
            shutil.copyfile(beside, new / beside.name)
        return
    model.write(new / MODEL_FILES[0], output_axes={0: "texts", 1: "tokens"})
    _compare(model, new)


def _weights(folder: Path) -> Weights:
    return open_weights(
        folder,
        kind="AutoModel",
        task="feature-extraction",
        output=OUTPUTS[0],
        extra="scorer,transformers",
    )


def _compare(weights: Weights, new: Path) -> None:
    """Compare the ONNX file with the weights, on a batch of another shape with padding."""
    encoder = SentenceEncoder.open(new, threads=1)
    batch = encoder.padded(encoder.tokens(_TEXTS))
    expected = encoder.recipe.applied(weights.computed(batch), batch["attention_mask"])
    if not np.allclose(encoder.encode(_TEXTS), expected, atol=_MAX_DRIFT):
        raise DataCorrupt(f"{new}: the vectors of the ONNX file differ from those of the weights")
