"""The model in a GGUF file: its name, its sizes, and what it lacks to write texts."""

from dataclasses import dataclass
from pathlib import Path

from scaar.core.errors import DataCorrupt
from scaar.core.text.one_line import one_line
from scaar.generator.gguf.header import GgufHeader, Value, read_header
from scaar.generator.gguf.quantisations import QUANTISATIONS

_LONGEST_NAME = 120
_LONGEST_WORD = 40
_ENCODERS = frozenset(
    {"bert", "modern-bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "jina-bert-v3"}
    | {"neo-bert", "eurobert", "gemma-embedding", "t5encoder", "clip"}
)
"""Architectures that write no texts."""
_MAX_SIZE = 1 << 32


@dataclass(frozen=True, slots=True)
class GgufModel:
    """A language model as the header of its file describes it."""

    path: Path
    file_bytes: int
    architecture: str
    own_name: str
    """``general.name``; the name of the file if the header has none."""
    quantisation: str
    """Such as ``Q4_K_M``; empty if the header names none."""
    context_length: int
    """Number of tokens that the model was trained to read."""
    layers: int
    embedding: int
    feed_forward: int
    vocabulary: int
    cached_values: int
    """Numbers of a token's keys and values in all layers, an upper bound."""
    chat_template: str | None

    @property
    def name(self) -> str:
        """Name and quantisation, such as ``SmolLM2 135M Instruct Q4_1``."""
        if not self.quantisation or self.quantisation.lower() in self.own_name.lower():
            return self.own_name
        return f"{self.own_name} {self.quantisation}"


def read_model(path: Path) -> GgufModel:
    """Read the description of a model.

    Raises:
        NotFound: the file cannot be read.
        DataCorrupt: it is no GGUF file, is damaged, or contains no model that writes texts.
    """
    header = read_header(path)
    entries = header.entries
    architecture = entries.get("general.architecture")
    if not isinstance(architecture, str) or not architecture:
        raise DataCorrupt(f"{path} names no architecture of a model: download or copy it again")
    _check_kind(path, header, architecture)
    sizes = _Sizes(path, header, architecture)
    layers, embedding = sizes.number("block_count"), sizes.number("embedding_length")
    return GgufModel(
        path=path,
        file_bytes=path.stat().st_size,
        architecture=architecture,
        own_name=one_line(str(entries.get("general.name", "")), length=_LONGEST_NAME) or path.stem,
        quantisation=_quantisation(entries.get("general.file_type")),
        context_length=sizes.number("context_length"),
        layers=layers,
        embedding=embedding,
        feed_forward=sizes.largest("feed_forward_length", default=4 * embedding),
        vocabulary=header.lengths["tokenizer.ggml.tokens"],
        cached_values=sizes.cached_values(layers, embedding),
        chat_template=_text(entries.get("tokenizer.chat_template")),
    )


def _check_kind(path: Path, header: GgufHeader, architecture: str) -> None:
    kind = header.entries.get("general.type", "model")
    if kind != "model" or architecture in _ENCODERS:
        what = architecture if kind == "model" else one_line(str(kind), length=_LONGEST_WORD)
        raise DataCorrupt(
            f"{path} contains no language model but a {what}: set SCAAR_GENERATOR_MODEL to a model "
            "that writes texts"
        )
    parts = header.entries.get("split.count")
    if isinstance(parts, int) and parts > 1:
        raise DataCorrupt(
            f"{path} is one of {parts} parts of a model: join them with llama-gguf-split --merge"
        )
    if not header.lengths.get("tokenizer.ggml.tokens") or not header.tensors:
        raise DataCorrupt(
            f"{path} has no tokenizer or no weights, as vocabularies and adapters have: set "
            "SCAAR_GENERATOR_MODEL to a whole model"
        )


class _Sizes:
    """Sizes in the header, ``<architecture>.<name>``."""

    def __init__(self, path: Path, header: GgufHeader, architecture: str) -> None:
        self._path = path
        self._header = header
        self._architecture = architecture

    def number(self, name: str) -> int:
        """Return a required size.

        Raises:
            DataCorrupt: it is missing or no positive number.
        """
        value = self._header.entries.get(f"{self._architecture}.{name}")
        if not _is_size(value):
            key = f"{one_line(self._architecture, length=_LONGEST_WORD)}.{name}"
            raise DataCorrupt(f"{self._path} lacks {key}: download or copy it again")
        return value  # type: ignore[return-value]

    def largest(self, name: str, *, default: int) -> int:
        """Return a size, or the largest of those of the layers."""
        return max(self._of_layers(name) or (default,))

    def cached_values(self, layers: int, embedding: int) -> int:
        """Return the numbers of a token's keys and values in all layers, an upper bound."""
        heads = self.largest("attention.head_count", default=1) or 1
        width = embedding // heads
        widths = sum(
            self.largest(f"attention.{part}_length", default=width) for part in ("key", "value")
        )
        cached = self._of_layers("attention.head_count_kv") or (heads,)
        return widths * (sum(cached) if len(cached) == layers > 1 else max(cached) * layers)

    def _of_layers(self, name: str) -> tuple[int, ...]:
        value = self._header.entries.get(f"{self._architecture}.{name}")
        values = value if isinstance(value, tuple) else (value,)
        return tuple(size for size in values if _is_size(size, least=0))  # type: ignore[misc]


def _is_size(value: Value | None, *, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < _MAX_SIZE


def _quantisation(file_type: Value | None) -> str:
    if not isinstance(file_type, int):
        return ""
    # The highest bit says that the type was guessed from the tensors.
    return QUANTISATIONS.get(file_type & ~1024, "")


def _text(value: Value | None) -> str | None:
    return value if isinstance(value, str) and value else None
