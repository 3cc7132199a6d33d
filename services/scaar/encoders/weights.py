"""An encoder's weights, opened by transformers and written as an ONNX file by PyTorch."""

import importlib.util
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaar.core.errors import CapabilityMissing, DataCorrupt, NotFound
from scaar.encoders.tensor_names import INPUTS
from scaar.runtime.checkpoint import MODEL_FILES

NEEDED = ("config.json", "tokenizer.json")
OPSET = 17


@dataclass(frozen=True, slots=True)
class Weights:
    """An open model, whose one output is of interest; it blocks while it computes."""

    torch: Any
    model: Any
    output: str

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the model reads; of one type of token, as in a RoBERTa, it is told nothing."""
        return INPUTS if getattr(self.model.config, "type_vocab_size", 0) > 1 else INPUTS[:2]

    def computed(self, batch: Mapping[str, Any]) -> Any:
        """The output for a padded batch of numpy arrays, by the names of the inputs."""
        given = {name: self.torch.from_numpy(batch[name]) for name in self.inputs}
        with self.torch.no_grad():
            return self.model(**given)[self.output].numpy()

    def write(self, path: Path, *, output_axes: Mapping[int, str]) -> None:
        """Writes the ONNX file; ``output_axes`` are those of the output that vary.

        Raises:
            CapabilityMissing: PyTorch cannot write this model.
        """
        torch, model, inputs, output = self.torch, self.model, self.inputs, self.output

        class OneOutput(torch.nn.Module):  # type: ignore[misc, name-defined]
            """The model, its inputs by place and its one output."""

            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, *tensors: Any) -> Any:
                """The output."""
                return self.model(**dict(zip(inputs, tensors, strict=True)))[output]

        ids = torch.ones((2, 9), dtype=torch.int64)
        given = {"input_ids": ids, "attention_mask": ids, "token_type_ids": ids * 0}
        either = {name: {0: "texts", 1: "tokens"} for name in inputs}
        with warnings.catch_warnings(), torch.no_grad():
            # The exporter that needs no further package is told to be the older one.
            warnings.simplefilter("ignore")
            try:
                torch.onnx.export(
                    # It puts back the mode that it finds, which for a new module is training.
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
                text = f"{path.parent}: PyTorch cannot write it as ONNX: {error}"
                raise CapabilityMissing(text) from error


def open_weights(folder: Path, *, kind: str, task: str, output: str, extra: str) -> Weights:
    """The weights in a folder, opened by the class ``kind`` of transformers; blocks.

    ``task`` is what Optimum calls such a model, ``extra`` what of scaar installs the libraries.

    Raises:
        NotFound: the folder has no tokenizer or configuration.
        CapabilityMissing: PyTorch, transformers or onnx is not installed.
        DataCorrupt: transformers cannot open the weights.
    """
    for name in NEEDED:
        if not (folder / name).is_file():
            raise NotFound(f"{folder / name}: this file of the model is missing")
    missing = CapabilityMissing(
        f"{folder}: has no {' or '.join(MODEL_FILES)}. Install scaar[{extra}], which makes it, or "
        f"make it elsewhere: optimum-cli export onnx --model {folder} --task {task} FOLDER"
    )
    try:
        import torch
        import transformers
    except ImportError as error:
        raise missing from error
    # PyTorch writes by it.
    if importlib.util.find_spec("onnx") is None:
        raise missing
    try:
        model = getattr(transformers, kind).from_pretrained(
            folder, local_files_only=True, attn_implementation="eager"
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise DataCorrupt(f"{folder}: transformers cannot open it: {error}") from error
    return Weights(torch, model.eval().float(), output)
