"""The ``config.pbtxt`` of a cross-encoder, for each back end of Triton."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scaar.encoders.tensor_names import OUTPUT
from scaar.scorer.engines.batched_request import BUCKETS
from scaar.scorer.engines.triton_contract import REVISION_PARAMETER, TOKENIZER_PARAMETER

MODEL_NAME = "contribution_scorer"
PADDING_PARAMETER = "padding"
"""Parameter with the id of the padding token, for the Python back end."""

CAPABILITIES = ("7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0")
"""Supported compute capabilities of GPUs. Each has an engine file of its own."""


class Backend(StrEnum):
    """Back end that runs the model in Triton."""

    TENSORRT = "tensorrt"
    ONNX = "onnx"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Properties of a model that its configuration contains."""

    inputs: tuple[str, ...]
    """Inputs of the model, among :data:`~scaar.encoders.tensor_names.INPUTS`."""

    max_pair_tokens: int
    padding: int = 0
    revision: str = ""
    tokenizer_sha256: str = ""
    max_batch_size: int = 64

    @property
    def widths(self) -> tuple[int, ...]:
        """Lengths in tokens to which the scorer pads, the only ones that the model sees."""
        below = (bucket for bucket in BUCKETS if bucket < self.max_pair_tokens)
        return (*below, self.max_pair_tokens)


def plan_name(capability: str) -> str:
    """Return the file name of the engine for a compute capability such as ``8.6``."""
    return f"model_sm{capability.replace('.', '')}.plan"


def mask_name(width: int) -> str:
    """Return the name of the file below ``warmup`` with a mask of ones of that width."""
    return f"attention_mask_{width}"


def config_text(backend: Backend, shape: ModelShape) -> str:
    """Return the configuration in the text format of protobuf."""
    parts = [
        f'name: "{MODEL_NAME}"',
        *_engine(backend),
        f"max_batch_size: {shape.max_batch_size}",
        *(_input(name, ragged=backend is Backend.PYTHON) for name in shape.inputs),
        f'output {{ name: "{OUTPUT}" data_type: TYPE_FP32 dims: [ 1 ] }}',
        _instances(backend, shape),
        _BATCHING,
        *(_warmup(width, shape.inputs) for width in shape.widths),
        *_parameters(backend, shape),
    ]
    return "\n".join(parts) + "\n"


_BATCHING = """\
dynamic_batching {
  # If the queue is full, or a request waited too long, the scorer responds with OVERLOADED.
  default_queue_policy {
    timeout_action: REJECT
    default_timeout_microseconds: 5000000
    max_queue_size: 256
  }
}"""


def _engine(backend: Backend) -> Sequence[str]:
    match backend:
        case Backend.TENSORRT:
            files = (
                f'cc_model_filenames {{ key: "{each}" value: "{plan_name(each)}" }}'
                for each in CAPABILITIES
            )
            return ('platform: "tensorrt_plan"', *files)
        case Backend.ONNX:
            return ('platform: "onnxruntime_onnx"',)
        case Backend.PYTHON:
            return ('backend: "python"',)


def _input(name: str, *, ragged: bool) -> str:
    mixed = " allow_ragged_batch: true" if ragged else ""
    return f'input {{ name: "{name}" data_type: TYPE_INT64 dims: [ -1 ]{mixed} }}'


def _instances(backend: Backend, shape: ModelShape) -> str:
    # With one instance, some requests wait 500 ms longer than necessary; with two, none does.
    match backend:
        case Backend.TENSORRT:
            profiles = ", ".join(f'"{number}"' for number in range(len(shape.widths)))
            return f"instance_group {{ count: 2 kind: KIND_GPU profile: [ {profiles} ] }}"
        case Backend.ONNX | Backend.PYTHON:
            return "instance_group { count: 2 kind: KIND_CPU }"


def _warmup(width: int, inputs: Sequence[str]) -> str:
    """Return a warm-up of one pair of that width: only padding, with a mask of ones."""
    filled: Mapping[str, str] = {"attention_mask": f'input_data_file: "{mask_name(width)}"'}
    lines = [f'model_warmup {{\n  name: "{width} tokens"\n  batch_size: 1']
    for name in inputs:
        data = filled.get(name, "zero_data: true")
        value = f"data_type: TYPE_INT64 dims: [ {width} ] {data}"
        lines.append(f'  inputs {{ key: "{name}" value {{ {value} }} }}')
    return "\n".join(lines) + "\n}"


def _parameters(backend: Backend, shape: ModelShape) -> list[str]:
    values = {REVISION_PARAMETER: shape.revision, TOKENIZER_PARAMETER: shape.tokenizer_sha256}
    if backend is Backend.PYTHON:
        values[PADDING_PARAMETER] = str(shape.padding)
    if backend is Backend.ONNX:
        values |= {"intra_op_thread_count": "1", "inter_op_thread_count": "1"}
    return [
        f'parameters {{ key: "{key}" value {{ string_value: "{value}" }} }}'
        for key, value in values.items()
        if value
    ]
