"""Requirements for a Triton model that scores contributions, and the properties read from it."""

from collections.abc import Mapping
from dataclasses import dataclass

from scaar.core.errors import CapabilityMissing
from scaar.encoders.tensor_names import INPUTS, OUTPUT

REVISION_PARAMETER = "revision"
"""Parameter of the model's configuration: a prefix of the SHA-256 of its ONNX file."""
TOKENIZER_PARAMETER = "tokenizer_sha256"
"""Parameter of the model's configuration: the SHA-256 of its tokenizer."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or output as the server reports it; -1 is any length."""

    kind: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.kind} {list(self.shape)}"


@dataclass(frozen=True, slots=True)
class ReportedModel:
    """A model as the server reports it."""

    name: str
    version: str
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    max_batch_size: int
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ServedModel:
    """Properties of a compatible model that calls need."""

    revision: str
    inputs: tuple[str, ...]
    max_batch_size: int


_INPUT = Tensor("INT64", (-1, -1))
_OUTPUT = Tensor("FP32", (-1, 1))


def served_model(found: ReportedModel, *, tokenizer_sha256: str, target: str) -> ServedModel:
    """Return the properties of a reported model, if the model is compatible.

    Raises:
        CapabilityMissing: the model is not compatible; the error names every difference.
    """
    wrong = [*_wrong_inputs(found.inputs), *_wrong_output(found.outputs)]
    if found.max_batch_size < 1:
        wrong.append(f"max_batch_size must be at least 1, not {found.max_batch_size}")
    tokenizer = found.parameters.get(TOKENIZER_PARAMETER, tokenizer_sha256)
    if tokenizer != tokenizer_sha256:
        wrong.append(
            f"its tokenizer has the SHA-256 {tokenizer[:12]}, and that of the model folder "
            f"{tokenizer_sha256[:12]}; export the model again"
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
        f"input {name} must be {_INPUT}, and is missing"
        for name in INPUTS[:2]
        if name not in inputs
    ]
    for name, tensor in inputs.items():
        if name not in INPUTS:
            wrong.append(f"inputs must be among {', '.join(INPUTS)}, not {name}")
        elif tensor != _INPUT:
            wrong.append(f"input {name} must be {_INPUT}, not {tensor}")
    return wrong


def _wrong_output(outputs: Mapping[str, Tensor]) -> list[str]:
    found = outputs.get(OUTPUT)
    if found is None:
        names = ", ".join(outputs) or "none"
        return [f"output {OUTPUT} must be {_OUTPUT}, and the outputs are {names}"]
    return [] if found == _OUTPUT else [f"output {OUTPUT} must be {_OUTPUT}, not {found}"]
