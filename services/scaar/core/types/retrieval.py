"""What crosses the port of a retriever."""

import enum
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetadataField:
    """A keyword field of a passage, and its values."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as it is indexed. Each field of ``metadata`` is one that the index declares."""

    id: str
    title: str
    text: str
    metadata: tuple[MetadataField, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A passage found for a query."""

    id: str
    title: str
    text: str
    score: float
    rank: int
    metadata: tuple[MetadataField, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """Fits the passages that carry any of the values in the field."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RetrieveRequest:
    """Queries for one index; passages are found that fit all the filters."""

    queries: tuple[str, ...]
    top_k: int
    index: str
    filters: tuple[Filter, ...] = ()


class VectorMetric(enum.StrEnum):
    """What says how near a passage's vector is to the query's."""

    INNER_PRODUCT = "ip"
    """The score is the inner product."""
    L2 = "l2"
    """The score is the squared distance, below zero."""


@dataclass(frozen=True, slots=True)
class HnswSettings:
    """A graph of near vectors, searched in place of all of them (HNSW; Malkov, Yashunin, 2018)."""

    m: int = 32
    """Neighbours of a vector in the graph; twice as many in its lowest layer."""
    ef_construction: int = 200
    """Candidates looked at when a vector is put in."""
    ef_search: int = 100
    """Candidates looked at by a search."""


@dataclass(frozen=True, slots=True)
class DenseSettings:
    """How an index of vectors is searched; without ``hnsw`` exactly, with every vector."""

    metric: VectorMetric = VectorMetric.INNER_PRODUCT
    hnsw: HnswSettings | None = None


@dataclass(frozen=True, slots=True)
class DenseDescription:
    """The vectors of an index: by which encoder, how wide, and how they are searched."""

    encoder: str
    encoder_revision: str
    width: int
    settings: DenseSettings


@dataclass(frozen=True, slots=True)
class IndexDescription:
    """An index: ``version`` changes with its content."""

    name: str
    version: str
    passages: int
    engine: str
    k1: float
    b: float
    created: str
    """When it was built, RFC 3339 in UTC."""
    size_bytes: int
    metadata_fields: tuple[str, ...] = ()
    """The fields that its passages may carry, by name."""
    damage: str = ""
    """What is wrong with it, in a list of indexes; the other fields hold what can be told."""
    dense: DenseDescription | None = None
    """Its vectors; None for an index of words, by BM25."""
    content: str = ""
    """A digest of its passages alone, whatever their order: equal for indexes of the same passages.
    Empty where it was built by a version that kept none."""


@dataclass(frozen=True, slots=True)
class IndexCheck:
    """One thing of an index, what was found there, and whether it is as the index says."""

    name: str
    found: str
    right: bool


@dataclass(frozen=True, slots=True)
class IndexVerification:
    """An index held against what it says of itself; ``version`` is empty where it does not say."""

    index: str
    version: str
    checks: tuple[IndexCheck, ...]

    @property
    def is_whole(self) -> bool:
        """Everything that was looked at is right."""
        return all(check.right for check in self.checks)


class IndexMode(enum.StrEnum):
    """What becomes of the index of that name that is there already."""

    CREATE = "create"
    """It is kept; the name must be free."""
    REPLACE = "replace"
    """The new one takes its place."""
    UPSERT = "upsert"
    """Passages are put into it by their ids; it is made where it is not there."""


@dataclass(frozen=True, slots=True)
class IndexResult:
    """An index as it was built, and what became of the passages given.

    ``replaced`` of them took the place of one with the same id, ``added`` are new; the index's
    ``passages`` are the total.
    """

    index: IndexDescription
    added: int
    replaced: int = 0


@dataclass(frozen=True, slots=True)
class RetrieveResult:
    """The passages for each query, best first, and the version of the index that gave them."""

    index: str
    version: str
    results: tuple[tuple[RetrievedPassage, ...], ...]
