"""The ONNX file of a checkpoint that has none, written by PyTorch from its weights."""

import importlib.util
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from scaar.core.errors import CapabilityMissing, DataCorrupt, NotFound
from scaar.runtime.checkpoint import MODEL_FILES
from scaar.scorer.engines.cross_encoder import open_cross_encoder
from scaar.scorer.engines.pair_reader import TokenPair
from scaar.scorer.engines.tensor_names import INPUTS, OUTPUT

_OPSET = 17
_MOST_DRIFT = 1e-3
_COPIED = ("config.json", "tokenizer.json", "tokenizer_config.json")


def export_onnx(folder: Path, to: Path) -> None:
    """Writes the checkpoint to ``to``, its weights as an ONNX file that gives the same logits.

    Raises:
        NotFound: the checkpoint has no tokenizer or configuration.
        CapabilityMissing: what makes the file is not installed, or cannot make it of this model.
        DataCorrupt: transformers cannot open the checkpoint, or what was written differs from it.
    """
    for name in _COPIED[:2]:
        if not (folder / name).is_file():
            raise NotFound(f"{folder / name}: this file of the model is missing")
    torch, model = _opened(folder)
    to.mkdir()
    for name in _COPIED:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, to / name)
    # Of one type of token, as in a RoBERTa, the model is told nothing.
    inputs = INPUTS if getattr(model.config, "type_vocab_size", 0) > 1 else INPUTS[:2]
    try:
        _write(torch, model, inputs, to / MODEL_FILES[0])
    except RuntimeError as error:
        raise CapabilityMissing(f"{folder}: PyTorch cannot write it as ONNX: {error}") from error
    _compare(torch, model, inputs, to)


def _opened(folder: Path) -> tuple[Any, Any]:
    try:
        import torch
        from transformers import AutoModelForSequenceClassification
    except ImportError as error:
        raise _not_installed(folder) from error
    # PyTorch writes by it.
    if importlib.util.find_spec("onnx") is None:
        raise _not_installed(folder)
    try:
        model = AutoModelForSequenceClassification.from_pretrained(
            folder, local_files_only=True, attn_implementation="eager"
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise DataCorrupt(f"{folder}: transformers cannot open it: {error}") from error
    return torch, model.eval().float()


def _not_installed(folder: Path) -> CapabilityMissing:
    return CapabilityMissing(
        f"{folder}: has no {' or '.join(MODEL_FILES)}. Install scaar[scorer,transformers], which "
        "makes it, or make it elsewhere: optimum-cli export onnx "
        f"--model {folder} --task text-classification FOLDER"
    )


def _write(torch: Any, model: Any, inputs: tuple[str, ...], path: Path) -> None:
    class Logits(torch.nn.Module):  # type: ignore[misc]
        """The model, its inputs by place and its logits alone."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Any) -> Any:
            """The logits."""
            return self.model(**dict(zip(inputs, tensors, strict=True))).logits

    ids = torch.ones((2, 9), dtype=torch.int64)
    given = {"input_ids": ids, "attention_mask": ids, "token_type_ids": ids * 0}
    either = {name: {0: "pairs", 1: "tokens"} for name in inputs}
    with warnings.catch_warnings(), torch.no_grad():
        # The exporter that needs no further package is told to be the older one.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            # The exporter puts back the mode that it finds, which for a new module is training.
            Logits().eval(),
            tuple(given[name] for name in inputs),
            str(path),
            input_names=list(inputs),
            output_names=[OUTPUT],
            dynamic_axes={**either, OUTPUT: {0: "pairs"}},
            opset_version=_OPSET,
            dynamo=False,
        )


def _compare(torch: Any, model: Any, inputs: tuple[str, ...], written: Path) -> None:
    """Holds what was written to the model, on a batch of another shape and with padding."""
    other = open_cross_encoder(written, threads=1)
    most = min(other.max_pair_tokens, 31)
    pairs = [TokenPair(tuple(range(2, 2 + n)), (0,) * n) for n in (most, most // 2, 3)]
    batch = {name: torch.from_numpy(other.padded(pairs)[name]) for name in inputs}
    with torch.no_grad():
        expected = model(**batch).logits.numpy()
    found = other.logits(pairs)
    if found.shape != expected.shape or not np.allclose(found, expected, atol=_MOST_DRIFT):
        raise DataCorrupt(f"{written}: the ONNX file does not give the logits of the model")
