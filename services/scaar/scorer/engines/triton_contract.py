"""What a model behind Triton must be like to score contributions, and what is read off it."""

from collections.abc import Mapping
from dataclasses import dataclass

from scaar.core.errors import CapabilityMissing
from scaar.scorer.engines.tensor_names import INPUTS, OUTPUT

REVISION_PARAMETER = "revision"
"""Of the model's configuration: the start of the SHA-256 of the ONNX file it was made from."""
TOKENIZER_PARAMETER = "tokenizer_sha256"
"""Of the model's configuration: the tokenizer that the model was exported with."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or output as the server tells of it; -1 stands for any length."""

    kind: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.kind} {list(self.shape)}"


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model as the server tells of it."""

    name: str
    version: str
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    max_batch_size: int
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What has to be known of a fitting model to ask it."""

    revision: str
    inputs: tuple[str, ...]
    max_batch_size: int


_INPUT = Tensor("INT64", (-1, -1))
_OUTPUT = Tensor("FP32", (-1, 1))


def fitting(found: FoundModel, *, tokenizer_sha256: str, target: str) -> ServedModel:
    """What has to be known of the model, if it fits.

    Raises:
        CapabilityMissing: it does not; names what is expected and what was found, all of it.
    """
    wrong = [*_wrong_inputs(found.inputs), *_wrong_output(found.outputs)]
    if found.max_batch_size < 1:
        wrong.append(f"max_batch_size must be at least 1, not {found.max_batch_size}")
    tokenizer = found.parameters.get(TOKENIZER_PARAMETER, tokenizer_sha256)
    if tokenizer != tokenizer_sha256:
        wrong.append(
            f"it was exported with the tokenizer of SHA-256 {tokenizer[:12]}, and the model folder "
            f"has {tokenizer_sha256[:12]}"
        )
    if wrong:
        text = f"{target}: model {found.name!r} cannot score contributions: {'; '.join(wrong)}"
        raise CapabilityMissing(text, target=target, model=found.name)
    return ServedModel(
        revision=found.parameters.get(REVISION_PARAMETER) or f"version-{found.version}",
        inputs=tuple(name for name in INPUTS if name in found.inputs),
        max_batch_size=found.max_batch_size,
    )


def _wrong_inputs(inputs: Mapping[str, Tensor]) -> list[str]:
    wrong = [
        f"input {name} must be {_INPUT}, and there is none"
        for name in INPUTS[:2]
        if name not in inputs
    ]
    for name, tensor in inputs.items():
        if name not in INPUTS:
            wrong.append(f"inputs must be of {', '.join(INPUTS)}, not {name}")
        elif tensor != _INPUT:
            wrong.append(f"input {name} must be {_INPUT}, not {tensor}")
    return wrong


def _wrong_output(outputs: Mapping[str, Tensor]) -> list[str]:
    found = outputs.get(OUTPUT)
    if found is None:
        there = ", ".join(outputs) or "none"
        return [f"output {OUTPUT} must be {_OUTPUT}, and the outputs are {there}"]
    return [] if found == _OUTPUT else [f"output {OUTPUT} must be {_OUTPUT}, not {found}"]
