"""Vector indexes: their settings and limits, and the encoder that they need."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from scaar.core.defaults.text_kinds import encoder_advice, kind_of_name
from scaar.core.errors import CapabilityMissing, DataCorrupt, InvalidRequest, Violation
from scaar.core.types import DenseDescription, DenseSettings, Passage, RetrievedPassage

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

# A retriever of words on OpenSearch needs no NumPy.
Vectors: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"

VectorLookup = Callable[[Passage], "Vectors | None"]
"""Returns the vector of a passage that an existing index contains, else None."""

VECTOR_ANALYZER = "vectors-1"
"""Name of the analysis in manifests of vector indexes. Change it when the encoded text changes."""

M_RANGE = (2, 128)
MAX_EF_CONSTRUCTION = 2_000
MAX_EF_SEARCH = 10_000
_SETTING = "SCAAR_RETRIEVER_ENCODER"


class Encoder(Protocol):
    """A sentence encoder, which maps texts to vectors of one width. Thread-safe."""

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str: ...

    @property
    def width(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text, [texts, width]. Texts over the token limit are truncated."""
        ...


def no_default_encoder(index: str) -> Encoder | None:
    """Return None: no index has a default encoder."""
    return None


@dataclass(frozen=True, slots=True)
class ConfiguredEncoder:
    """The encoder that a retriever is configured with, or else the default one of each index.

    Its methods block while a default encoder is opened.
    """

    encoder: Encoder | None = None
    default: Callable[[str], Encoder | None] = no_default_encoder
    """Returns the default encoder of the index of this name; None without one."""

    def describe(self, index: str, settings: DenseSettings) -> DenseDescription:
        """Return the description of the vectors of a new index.

        Raises:
            InvalidRequest: naming each invalid setting and its limit.
            CapabilityMissing: no encoder is configured.
        """
        if wrong := list(_settings_violations(settings)):
            raise InvalidRequest(wrong)
        own = self._of_index(index)
        if own is None:
            advice = encoder_advice(kind_of_name(index), f"--encoder or {_SETTING}")
            raise CapabilityMissing(f"a vector index needs an encoder: {advice}")
        return DenseDescription(own.name, own.revision, own.width, settings)

    def check(self, index: str, dense: DenseDescription) -> Encoder:
        """Return the encoder if it is the one that encoded the index.

        Raises:
            CapabilityMissing: there is no encoder, or one of another revision or width; the error
                names both.
        """
        made = f"{dense.encoder} (revision {dense.encoder_revision}, {dense.width} wide)"
        own = self._of_index(index)
        if own is None:
            text = f"the index {index!r} needs the encoder {made}, and the retriever has none: set"
            advice = f"{_SETTING} to its folder, or install scaar-english if that has it"
            raise CapabilityMissing(f"{text} {advice}", index=index)
        if (own.revision, own.width) != (dense.encoder_revision, dense.width):
            has = f"{own.name} (revision {own.revision}, {own.width} wide)"
            text = f"the index {index!r} needs the encoder {made}, and the retriever has {has}"
            raise CapabilityMissing(
                f"{text}: set {_SETTING} to the folder of the former, or rebuild the index with "
                "--replace",
                index=index,
            )
        return own

    def _of_index(self, index: str) -> Encoder | None:
        return self.default(index) if self.encoder is None else self.encoder


def encoded_text(passage: Passage | RetrievedPassage) -> str:
    """Return the text of a passage that is encoded."""
    return f"{passage.title} {passage.text}".strip()


def encode(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """Return the vectors of texts, [texts, width].

    Raises:
        DataCorrupt: the encoder returns a vector of another width, or non-finite numbers.
    """
    import numpy as np

    if not texts:
        return np.empty((0, encoder.width), dtype=np.float32)
    vectors = np.ascontiguousarray(encoder.encode(texts), dtype=np.float32)
    if vectors.shape != (len(texts), encoder.width) or not np.isfinite(vectors).all():
        text = f"encoder {encoder.name} does not return {encoder.width} finite numbers per text"
        raise DataCorrupt(text)
    return vectors


def unchanged_dense(
    index: str, stored: DenseDescription | None, *, requested: DenseSettings | None
) -> DenseDescription | None:
    """Return the vectors of an existing index, if the request does not change their settings.

    Raises:
        InvalidRequest: the requested settings differ from those of the index.
    """
    if requested is not None and (stored is None or stored.settings != requested):
        kind = "BM25" if stored is None else settings_text(stored.settings)
        text = f"must equal that of the index {index!r} ({kind}); omit it, or rebuild the index "
        raise InvalidRequest.of("dense", f"{text}with --replace")
    return stored


def settings_text(settings: DenseSettings) -> str:
    """Return the settings of a vector index as a short text."""
    graph, words = settings.hnsw, ", with words" if settings.words else ""
    if graph is None:
        return f"exact, {settings.metric}{words}"
    numbers = f"m {graph.m}, ef_construction {graph.ef_construction}, ef_search {graph.ef_search}"
    return f"hnsw, {settings.metric}, {numbers}{words}"


def _settings_violations(settings: DenseSettings) -> Iterator[Violation]:
    graph = settings.hnsw
    if graph is None:
        return
    minimum, maximum = M_RANGE
    ranges = (
        ("m", graph.m, minimum, maximum),
        ("ef_construction", graph.ef_construction, max(graph.m, 1), MAX_EF_CONSTRUCTION),
        ("ef_search", graph.ef_search, 1, MAX_EF_SEARCH),
    )
    for name, value, low, high in ranges:
        if not low <= value <= high:
            yield Violation(f"dense.hnsw.{name}", f"must be {low} to {high:,}, not {value:,}")
