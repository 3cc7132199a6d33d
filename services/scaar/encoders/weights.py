"""Weights of an encoder, opened by transformers and exported to ONNX by PyTorch."""

import importlib.util
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaar.core.errors import CapabilityMissing, DataCorrupt, NotFound
from scaar.encoders.checkpoint import MODEL_FILES
from scaar.encoders.tensor_names import INPUTS

NEEDED = ("config.json", "tokenizer.json")
OPSET = 17


@dataclass(frozen=True, slots=True)
class Weights:
    """An open model and the name of the output to export. Its methods block."""

    torch: Any
    model: Any
    output: str

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the model's inputs. A model with one token type, such as RoBERTa, has two."""
        return INPUTS if getattr(self.model.config, "type_vocab_size", 0) > 1 else INPUTS[:2]

    def computed(self, batch: Mapping[str, Any]) -> Any:
        """Return the output for a padded batch of NumPy arrays by input name."""
        given = {name: self.torch.from_numpy(batch[name]) for name in self.inputs}
        with self.torch.no_grad():
            return self.model(**given)[self.output].numpy()

    def write(self, path: Path, *, output_axes: Mapping[int, str]) -> None:
        """Write the ONNX file. ``output_axes`` are the dynamic axes of the output.

        Raises:
            CapabilityMissing: PyTorch cannot export this model.
        """
        torch, model, inputs, output = self.torch, self.model, self.inputs, self.output

        class OneOutput(torch.nn.Module):  # type: ignore[misc, name-defined]
            """The model with positional inputs and one output."""

            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, *tensors: Any) -> Any:
                """Return the output."""
                return self.model(**dict(zip(inputs, tensors, strict=True)))[output]

        ids = torch.ones((2, 9), dtype=torch.int64)
        given = {"input_ids": ids, "attention_mask": ids, "token_type_ids": ids * 0}
        either = {name: {0: "texts", 1: "tokens"} for name in inputs}
        with warnings.catch_warnings(), torch.no_grad():
            # The exporter without further dependencies warns that it is deprecated.
            warnings.simplefilter("ignore")
            try:
                torch.onnx.export(
                    # The exporter restores the mode of the module, which is training for a new one.
                    OneOutput().eval(),
                    tuple(given[name] for name in inputs),
                    str(path),
                    input_names=list(inputs),
                    output_names=[output],
                    dynamic_axes={**either, output: dict(output_axes)},
                    opset_version=OPSET,
                    dynamo=False,
                )
            except RuntimeError as error:
                text = f"PyTorch cannot export {path.parent} to ONNX: {error}"
                raise CapabilityMissing(text) from error


def open_weights(folder: Path, *, kind: str, task: str, output: str, extra: str) -> Weights:
    """Open the weights in a folder with the class ``kind`` of transformers. Blocks.

    ``task`` is Optimum's name of the kind of model, and ``extra`` the extras of scaar that install
    the libraries.

    Raises:
        NotFound: the folder has no tokenizer or configuration.
        CapabilityMissing: PyTorch, transformers or onnx is not installed.
        DataCorrupt: transformers cannot open the weights.
    """
    for name in NEEDED:
        if not (folder / name).is_file():
            raise NotFound(f"the model file {folder / name} is missing")
    missing = CapabilityMissing(
        f"{folder} has no {' or '.join(MODEL_FILES)}. Install scaar[{extra}] to create it, or "
        f"create it elsewhere: optimum-cli export onnx --model {folder} --task {task} FOLDER"
    )
    try:
        import torch
        import transformers
    except ImportError as error:
        raise missing from error
    # PyTorch needs the package to write ONNX files.
    if importlib.util.find_spec("onnx") is None:
        raise missing
    try:
        model = getattr(transformers, kind).from_pretrained(
            folder, local_files_only=True, attn_implementation="eager"
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise DataCorrupt(f"transformers cannot open {folder}: {error}") from error
    return Weights(torch, model.eval().float(), output)
