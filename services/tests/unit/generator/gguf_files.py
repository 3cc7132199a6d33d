"""GGUF files with a header and no usable weights."""

import struct
from collections.abc import Mapping
from pathlib import Path

Values = Mapping[str, object]
MODEL: Values = {
    "general.architecture": "llama",
    "general.name": "Tiny Instruct",
    "general.file_type": 15,
    "llama.block_count": 2,
    "llama.context_length": 4096,
    "llama.embedding_length": 64,
    "llama.feed_forward_length": 256,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "tokenizer.ggml.tokens": ["a", "b", "c"],
    "tokenizer.chat_template": "{{ messages }}",
}
_INTEGER, _TEXT, _ARRAY = 4, 8, 9


def write_gguf(
    path: Path, values: Values = MODEL, *, version: int = 3, tensor_offset: int = 0
) -> Path:
    """Write a file with metadata and one tensor, whose weights begin at ``tensor_offset``."""
    entries = b"".join(_text(key) + _entry(value) for key, value in values.items())
    tensor = _text("token_embd.weight") + struct.pack("<IQIQ", 1, 8, 0, tensor_offset)
    header = b"GGUF" + struct.pack("<IQQ", version, 1, len(values))
    path.write_bytes(header + entries + tensor + bytes(96))
    return path


def _entry(value: object) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", _TEXT) + _text(value)
    if isinstance(value, list):
        kind = _TEXT if isinstance(value[0], str) else _INTEGER
        return struct.pack("<IIQ", _ARRAY, kind, len(value)) + b"".join(map(_element, value))
    return struct.pack("<I", _INTEGER) + _element(value)


def _element(value: object) -> bytes:
    return _text(value) if isinstance(value, str) else struct.pack("<I", value)


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content
