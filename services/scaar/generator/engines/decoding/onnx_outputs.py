"""An ONNX model with some of its inner tensors as outputs, without the library onnx."""

from collections.abc import Sequence
from pathlib import Path

from onnxruntime import SessionOptions

_MODEL_GRAPH, _GRAPH_OUTPUT, _VALUE_NAME = 7, 12, 1
"""Numbers of the fields ModelProto.graph, GraphProto.output and ValueInfoProto.name."""
_BYTES = 2
"""Wire type of messages and strings."""


def with_outputs(model: Path, names: Sequence[str], options: SessionOptions) -> bytes:
    """Return the model with these tensors of its graph as outputs. Blocks while it reads the file.

    Parsers of Protocol Buffers merge a message that occurs twice, so the outputs are appended as a
    second graph. ``options`` get the folder in which weights outside the file are found.
    """
    folder = str(model.resolve().parent)
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
    outputs = b"".join(_field(_GRAPH_OUTPUT, _field(_VALUE_NAME, name.encode())) for name in names)
    return model.read_bytes() + _field(_MODEL_GRAPH, outputs)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    groups = []
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])
