"""Indexes of vectors: what may be asked of one, and the encoder that it takes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from scaar.core.errors import CapabilityMissing, DataCorrupt, InvalidRequest, Violation
from scaar.core.types import DenseDescription, DenseSettings, Passage

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

# A retriever of words on OpenSearch needs no NumPy.
Vectors: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"

Known = Callable[[Passage], "Vectors | None"]
"""From a passage to its vector, where another index has it already."""

ENCODED = "vectors-1"
"""Stands in a manifest for the analysis; a change of what is encoded makes it another."""

M_RANGE = (2, 128)
MAX_EF_CONSTRUCTION = 2_000
MAX_EF_SEARCH = 10_000


class Encoder(Protocol):
    """A sentence encoder: texts to vectors of one width. Safe to use from several threads."""

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str: ...

    @property
    def width(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row for each text; what is over the encoder's limit of tokens is cut off."""
        ...


@dataclass(frozen=True, slots=True)
class OwnEncoder:
    """The encoder of a retriever, or that it has none."""

    encoder: Encoder | None = None

    def describe(self, settings: DenseSettings) -> DenseDescription:
        """The vectors of an index built now.

        Raises:
            InvalidRequest: naming each wrong setting and its limit.
            CapabilityMissing: there is no encoder.
        """
        if wrong := list(_wrong_settings(settings)):
            raise InvalidRequest(wrong)
        if self.encoder is None:
            text = "an index of vectors takes an encoder: name its folder by --encoder or by "
            raise CapabilityMissing(f"{text}SCAAR_RETRIEVER_ENCODER of the retriever")
        own = self.encoder
        return DenseDescription(own.name, own.revision, own.width, settings)

    def check(self, index: str, dense: DenseDescription) -> Encoder:
        """The encoder, if it is the one that made the index's vectors.

        Raises:
            CapabilityMissing: there is none, or it has another revision or width; naming both.
        """
        made = f"{dense.encoder} (revision {dense.encoder_revision}, {dense.width} wide)"
        if self.encoder is None:
            text = f"the index {index!r} takes the encoder {made}, and the retriever has none: name"
            raise CapabilityMissing(f"{text} its folder by SCAAR_RETRIEVER_ENCODER", index=index)
        own = self.encoder
        if (own.revision, own.width) != (dense.encoder_revision, dense.width):
            has = f"{own.name} (revision {own.revision}, {own.width} wide)"
            text = f"the index {index!r} takes the encoder {made}, and the retriever has {has}"
            raise CapabilityMissing(
                f"{text}: name the folder of the former by SCAAR_RETRIEVER_ENCODER, or build the "
                "index again with --replace",
                index=index,
            )
        return own


def encoded_text(passage: Passage) -> str:
    """What of a passage is encoded."""
    return f"{passage.title} {passage.text}".strip()


def encode(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """The vectors of some texts.

    Raises:
        DataCorrupt: the encoder does not give as many finite numbers as it should.
    """
    import numpy as np

    if not texts:
        return np.empty((0, encoder.width), dtype=np.float32)
    vectors = np.ascontiguousarray(encoder.encode(texts), dtype=np.float32)
    if vectors.shape != (len(texts), encoder.width) or not np.isfinite(vectors).all():
        text = f"encoder {encoder.name} does not give {encoder.width} finite numbers for a text"
        raise DataCorrupt(text)
    return vectors


def kept_dense(
    index: str, there: DenseDescription | None, *, asked: DenseSettings | None
) -> DenseDescription | None:
    """The vectors of an index that is there, if what is asked for is nothing or the same.

    Raises:
        InvalidRequest: it is searched otherwise.
    """
    if asked is not None and (there is None or there.settings != asked):
        kind = "an index by BM25" if there is None else told_settings(there.settings)
        text = f"must stay that of the index {index!r} ({kind}); leave it out, or build the index "
        raise InvalidRequest.of("dense", f"{text}anew with --replace")
    return there


def told_settings(settings: DenseSettings) -> str:
    """How an index of vectors is searched, in a few words."""
    graph = settings.hnsw
    if graph is None:
        return f"exact, {settings.metric}"
    numbers = f"m {graph.m}, ef_construction {graph.ef_construction}, ef_search {graph.ef_search}"
    return f"hnsw, {settings.metric}, {numbers}"


@contextmanager
def needing_faiss() -> Iterator[None]:
    """Imports of what an index of vectors needs.

    Raises:
        CapabilityMissing: it is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        text = f"an index of vectors needs {error.name}: install scaar[dense]"
        raise CapabilityMissing(text) from error


def _wrong_settings(settings: DenseSettings) -> Iterator[Violation]:
    graph = settings.hnsw
    if graph is None:
        return
    least, most = M_RANGE
    ranges = (
        ("m", graph.m, least, most),
        ("ef_construction", graph.ef_construction, max(graph.m, 1), MAX_EF_CONSTRUCTION),
        ("ef_search", graph.ef_search, 1, MAX_EF_SEARCH),
    )
    for name, value, low, high in ranges:
        if not low <= value <= high:
            yield Violation(f"dense.hnsw.{name}", f"must be {low} to {high:,}, not {value:,}")
