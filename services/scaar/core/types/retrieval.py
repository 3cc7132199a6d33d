"""Values of the port of a retriever."""

import enum
from dataclasses import dataclass

MAX_QUERY_CHARACTERS = 32_768
"""Maximum length of a query."""


@dataclass(frozen=True, slots=True)
class MetadataField:
    """A keyword field of a passage, and its values."""

    name: str
    values: tuple[str, ...]


HEADING_SEPARATOR = " > "
"""Between the headings of a path, as in the title of a passage from a section of a document."""

DOCUMENT_FIELDS = ("page", "section", "source", "url")
"""The metadata fields of an index that is built from files of documents."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage to be indexed. The index declares each field of ``metadata``."""

    id: str
    title: str
    text: str
    metadata: tuple[MetadataField, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageRequest:
    """A passage of an index, by its id."""

    index: str
    id: str


@dataclass(frozen=True, slots=True)
class PassageInContext:
    """A passage, and its neighbours: those beside it in the index with the same ``source``.

    A neighbour is None at the ends of a document, and if the retriever keeps no order.
    """

    index: str
    index_version: str
    passage: Passage
    previous: Passage | None = None
    next: Passage | None = None

    @classmethod
    def between(
        cls,
        index: str,
        version: str,
        before: Passage | None,
        passage: Passage,
        after: Passage | None,
    ) -> "PassageInContext":
        """Return a passage with those of the passages beside it that are of its document."""
        source = _source_of(passage)
        previous, following = (
            other if other is not None and source and _source_of(other) == source else None
            for other in (before, after)
        )
        return cls(index, version, passage, previous, following)


def _source_of(passage: Passage) -> tuple[str, ...]:
    return next((field.values for field in passage.metadata if field.name == "source"), ())


@dataclass(frozen=True, slots=True)
class RankedScore:
    """A rank from 1, and the score that gives it."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """What the stages of a search say of a passage; a stage without a say is None."""

    words: RankedScore | None = None
    """Rank and score by BM25, among all candidates of the words."""
    vectors: RankedScore | None = None
    """Rank and score by similarity, among all candidates of the vectors."""
    fused: RankedScore | None = None
    """Rank and score of a hybrid search, before reranking."""
    rerank: float | None = None
    """Relevance according to the cross-encoder."""


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A passage found for a query. A higher ``score`` is better; ``rank`` counts from 1.

    A hybrid search and reranking state the ``score_parts`` that lead to them.
    """

    id: str
    title: str
    text: str
    score: float
    rank: int
    metadata: tuple[MetadataField, ...] = ()
    score_parts: ScoreParts | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """Matches the passages that have any of the values in the field."""

    field: str
    values: tuple[str, ...]


class SearchMode(enum.StrEnum):
    """How an index is searched."""

    INDEX = "index"
    """As the index was built: by words, by vectors, or, with both, hybrid."""
    WORDS = "words"
    """By BM25."""
    VECTORS = "vectors"
    """By the similarity of vectors."""
    HYBRID = "hybrid"
    """By words and by vectors; the two rankings are fused by reciprocal rank."""


@dataclass(frozen=True, slots=True)
class HybridSettings:
    """Settings of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).

    The score of a passage is the sum of ``weight / (rrf_k + rank)`` over the rankings that have it.
    """

    rrf_k: int = 60
    """The constant of the paper, which limits the weight of the first ranks."""
    words_weight: float = 1.0
    vectors_weight: float = 1.0
    candidates: int = 100
    """Number of passages that each ranking contributes, at least ``top_k``."""


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """Settings of reranking by the retriever's cross-encoder."""

    depth: int = 30
    """Number of the best passages that are read with the query, at least ``top_k``."""


@dataclass(frozen=True, slots=True)
class RetrieveRequest:
    """Queries for at most ``top_k`` passages each of one index that match all filters.

    Passages of the ``excluded_ids`` are not returned. With ``score_all``, every passage that one of
    the queries finds is in the result of each query, with its exact score there, whatever the score
    is. ``hybrid`` are the settings of a hybrid search, None for the defaults. With ``rerank``, the
    best passages are ordered by the retriever's cross-encoder.
    """

    queries: tuple[str, ...]
    top_k: int
    index: str
    filters: tuple[Filter, ...] = ()
    excluded_ids: tuple[str, ...] = ()
    score_all: bool = False
    mode: SearchMode = SearchMode.INDEX
    hybrid: HybridSettings | None = None
    rerank: RerankSettings | None = None


class VectorMetric(enum.StrEnum):
    """Similarity of the vectors of a passage and a query."""

    INNER_PRODUCT = "ip"
    """The score is the inner product."""
    L2 = "l2"
    """The score is the negative squared distance."""


@dataclass(frozen=True, slots=True)
class HnswSettings:
    """Settings of an approximate search by a graph of vectors (HNSW; Malkov, Yashunin, 2018)."""

    m: int = 32
    """Neighbours of a vector in the graph; twice this number in its lowest layer."""
    ef_construction: int = 200
    """Candidates examined when a vector is added."""
    ef_search: int = 100
    """Candidates examined by a search."""


@dataclass(frozen=True, slots=True)
class DenseSettings:
    """How an index of vectors is searched; without ``hnsw``, exactly, over every vector.

    With ``words``, the index has the words of the passages too, for BM25 and hybrid searches.
    """

    metric: VectorMetric = VectorMetric.INNER_PRODUCT
    hnsw: HnswSettings | None = None
    words: bool = False


@dataclass(frozen=True, slots=True)
class DenseDescription:
    """The vectors of an index: their encoder, their dimension, and the settings of a search."""

    encoder: str
    encoder_revision: str
    width: int
    settings: DenseSettings


@dataclass(frozen=True, slots=True)
class IndexDescription:
    """An index. ``version`` changes with the content of the index."""

    name: str
    version: str
    passages: int
    engine: str
    k1: float
    b: float
    created: str
    """Time of the build, RFC 3339 in UTC."""
    size_bytes: int
    metadata_fields: tuple[str, ...] = ()
    """Metadata fields that the index declares, sorted by name."""
    damage: str = ""
    """Damage of the index, in a list of indexes. The other fields hold what is still readable."""
    dense: DenseDescription | None = None
    """Vectors of the index; None for an index by BM25."""
    content: str = ""
    """Digest of the passages, independent of their order: equal for indexes of the same passages.
    Empty if the version that built the index stored none."""
    analysis: str = ""
    """The text analysis of an index by BM25, such as ``english-1``."""
    reranker: str = ""
    """The cross-encoder of the retriever, which reranks passages; empty if it has none."""
    reranker_revision: str = ""
    """Its revision; empty for that of another server."""

    @property
    def modes(self) -> tuple[SearchMode, ...]:
        """The modes in which the index can be searched, the mode of the index itself last."""
        if self.dense is None:
            return (SearchMode.WORDS,)
        if not self.dense.settings.words:
            return (SearchMode.VECTORS,)
        return (SearchMode.WORDS, SearchMode.VECTORS, SearchMode.HYBRID)


@dataclass(frozen=True, slots=True)
class IndexCheck:
    """A check of one part of an index: what was found, and whether the check passed."""

    name: str
    found: str
    passed: bool


@dataclass(frozen=True, slots=True)
class IndexVerification:
    """The checks of an index. ``version`` is empty if the index does not state one."""

    index: str
    version: str
    checks: tuple[IndexCheck, ...]

    @property
    def is_whole(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)


class IndexMode(enum.StrEnum):
    """Reaction to an existing index of the same name."""

    CREATE = "create"
    """Refuse to build; the name must be free."""
    REPLACE = "replace"
    """Replace the index."""
    UPSERT = "upsert"
    """Add passages to the index, or replace those of the same id. Create a missing index."""


@dataclass(frozen=True, slots=True)
class IndexResult:
    """The built index, and the number of passages added and replaced.

    A passage replaces the one of the same id. ``index.passages`` is the total.
    """

    index: IndexDescription
    added: int
    replaced: int = 0


@dataclass(frozen=True, slots=True)
class RetrieveResult:
    """The passages for each query, best first, and the version of the index."""

    index: str
    version: str
    results: tuple[tuple[RetrievedPassage, ...], ...]
