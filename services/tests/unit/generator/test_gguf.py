"""Headers of GGUF files: what they describe, and files that are damaged or hostile."""

import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import DataCorrupt, NotFound, ScaarError
from scaar.generator.gguf import header
from scaar.generator.gguf.model import read_model

from .gguf_files import MODEL, write_gguf


def rejected(path: Path) -> str:
    """Return the error of a file, which is one line that names it."""
    with pytest.raises(DataCorrupt) as caught:
        read_model(path)
    message = caught.value.message
    assert str(path) in message
    assert message.isprintable()
    return message.removeprefix(str(path)).strip()


def test_a_model_is_named_by_its_file_with_its_quantisation(tmp_path: Path) -> None:
    model = read_model(write_gguf(tmp_path / "file.gguf"))
    assert model.name == "Tiny Instruct Q4_K_M"
    assert (model.architecture, model.context_length, model.vocabulary) == ("llama", 4096, 3)
    assert model.chat_template == "{{ messages }}"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"general.name": ""}, "file Q4_K_M"),
        ({"general.name": "  a\n b\x1b[0m "}, "a b[0m Q4_K_M"),
        ({"general.name": "Own-q4_k_m"}, "Own-q4_k_m"),
        ({"general.file_type": 9999}, "Tiny Instruct"),
        ({"general.name": "x" * 500}, f"{'x' * 120} Q4_K_M"),
    ],
)
def test_a_name_is_one_short_line(tmp_path: Path, changes: dict[str, object], name: str) -> None:
    assert read_model(write_gguf(tmp_path / "file.gguf", {**MODEL, **changes})).name == name


@pytest.mark.parametrize(
    ("changes", "values"),
    [
        ({}, 2 * 2 * (16 + 16)),
        ({"llama.attention.head_count_kv": [1, 3]}, (1 + 3) * (16 + 16)),
        ({"llama.attention.key_length": 40, "llama.attention.value_length": 8}, 2 * 2 * 48),
    ],
)
def test_keys_and_values_follow_from_heads_and_layers(
    tmp_path: Path, changes: dict[str, object], values: int
) -> None:
    assert read_model(write_gguf(tmp_path / "f.gguf", {**MODEL, **changes})).cached_values == values


def test_a_file_that_is_missing_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="none.gguf cannot be read"):
        read_model(tmp_path / "none.gguf")


def test_other_files_are_no_gguf_files(tmp_path: Path) -> None:
    path = tmp_path / "f.gguf"
    path.write_bytes(b"")
    assert rejected(path).startswith("is empty")
    path.write_text("hello world")
    assert rejected(path).startswith("is not a GGUF file")


def test_other_versions_and_byte_orders_are_rejected(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "f.gguf", version=1)
    assert rejected(path).startswith("is a GGUF file of version 1")
    write_gguf(path, version=3 << 24)
    assert rejected(path).startswith("is a GGUF file for another byte order")


def test_every_truncation_is_rejected(tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "whole.gguf").read_bytes()
    path = tmp_path / "f.gguf"
    for length in range(4, len(whole) - 96):
        path.write_bytes(whole[:length])
        assert "truncated" in rejected(path)


def test_a_file_without_the_weights_of_its_last_tensor_is_truncated(tmp_path: Path) -> None:
    assert "truncated" in rejected(write_gguf(tmp_path / "f.gguf", tensor_offset=1 << 40))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"general.architecture": "bert"}, "contains no language model but a bert"),
        ({"general.type": "adapter"}, "contains no language model but a adapter"),
        ({"split.count": 3}, "is one of 3 parts of a model"),
        ({"llama.block_count": 0}, "lacks llama.block_count"),
        ({"llama.context_length": "many"}, "lacks llama.context_length"),
        ({"tokenizer.ggml.tokens": "none"}, "has no tokenizer"),
        ({"general.architecture": ""}, "names no architecture"),
        (
            {"general.architecture": "a\x1b[31m\n" + "b" * 100},
            f"lacks a[31m {'b' * 34}.block_count",
        ),
        ({"general.type": "an\n\x1b[2Jadapter"}, "contains no language model but a an [2Jadapter"),
    ],
)
def test_files_without_a_model_that_writes_are_rejected(
    tmp_path: Path, changes: dict[str, object], text: str
) -> None:
    assert rejected(write_gguf(tmp_path / "f.gguf", {**MODEL, **changes})).startswith(text)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (struct.pack("<QQ", 1, 1 << 60), "entries, more than"),
        (struct.pack("<QQ", 1 << 60, 1), "tensors, more than"),
        (struct.pack("<QQQ", 1, 1, 1 << 63), "truncated"),
        (struct.pack("<QQQ1sI", 1, 1, 1, b"k", 99), "unknown type 99"),
        (struct.pack("<QQQ1sIIQ", 1, 1, 1, b"k", 9, 4, 1 << 62), "arrays of more than"),
        (struct.pack("<QQQ1sIIQ", 1, 1, 1, b"k", 9, 9, 1), "an array of the type 9"),
        (struct.pack("<QQQ1sIIQQ", 1, 1, 1, b"k", 9, 8, 5, 1 << 50), "truncated"),
    ],
)
def test_lengths_and_counts_of_a_hostile_header_are_bounded(
    tmp_path: Path, content: bytes, text: str
) -> None:
    path = tmp_path / "f.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<I", 3) + content)
    assert text in rejected(path)


def test_the_texts_of_a_hostile_header_are_bounded_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(header, "MAX_TEXT_BYTES", 1_000)
    long = {f"general.note_{number}": "x" * 300 for number in range(4)}
    path = write_gguf(tmp_path / "f.gguf", {**MODEL, **long})
    assert "with texts of more than 1,000 bytes" in rejected(path)


@given(st.binary(max_size=300), st.integers(0, 400))
def test_any_damage_is_an_error_or_another_model(
    tmp_path_factory: pytest.TempPathFactory, damage: bytes, at: int
) -> None:
    path = write_gguf(tmp_path_factory.mktemp("gguf") / "f.gguf")
    content = path.read_bytes()
    path.write_bytes(content[:at] + damage + content[at + len(damage) :])
    with suppress(ScaarError):
        read_model(path)
