"""Record of an index, stored in its mapping's ``_meta``: its description and its builder."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from scaar.core.errors import DataCorrupt
from scaar.core.types import DenseDescription, IndexDescription
from scaar.retriever.local.manifest import dense_of
from scaar.retriever.opensearch.content import ANALYZER
from scaar.retriever.opensearch.vectors import Json

ENGINE = "opensearch"
FORMAT_OF_BOTH = 4
"""Format of words and vectors, which earlier versions cannot read."""
FORMAT_OF_VECTORS = 3
FORMAT = 2
"""Format with declared metadata fields. A BM25 index without any has the format below, which
earlier versions can read."""
FORMAT_WITHOUT_FIELDS = 1
_FORMATS = (FORMAT_WITHOUT_FIELDS, FORMAT, FORMAT_OF_VECTORS, FORMAT_OF_BOTH)
_KEY = "scaar"


@dataclass(frozen=True, slots=True)
class Builder:
    """Process that builds an index, and the time of its last renewal, in seconds since 1970."""

    host: str
    pid: int
    token: str
    renewed: float


@dataclass(frozen=True, slots=True)
class Record:
    """An index: its settings and, once complete, its content."""

    name: str
    k1: float
    b: float
    shards: int
    builder: Builder | None = None
    version: str = ""
    """Empty until the index is complete."""
    content: str = ""
    """The sum with which :class:`scaar.retriever.opensearch.content.Content` continues."""
    passages: int = 0
    created: str = ""
    size_bytes: int = 0
    metadata_fields: tuple[str, ...] = ()
    dense: DenseDescription | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the build of the index has finished."""
        return bool(self.version)

    def description(self) -> IndexDescription:
        """Return the description that the port exposes."""
        return IndexDescription(
            name=self.name,
            version=self.version,
            passages=self.passages,
            engine=ENGINE,
            k1=self.k1,
            b=self.b,
            created=self.created,
            size_bytes=self.size_bytes,
            metadata_fields=self.metadata_fields,
            dense=self.dense,
            content=self.content,
            analysis=ANALYZER,
        )

    def for_build(self, builder: Builder | None = None) -> "Record":
        """Return the record of an empty index with the same settings."""
        return Record(
            self.name,
            self.k1,
            self.b,
            self.shards,
            builder,
            metadata_fields=self.metadata_fields,
            dense=self.dense,
        )

    def renewed(self, seconds: float) -> "Record":
        """Return the record with the lease of its builder renewed at that time."""
        assert self.builder
        return replace(self, builder=replace(self.builder, renewed=seconds))

    def meta(self) -> Json:
        """Return the ``_meta`` of the mapping."""
        content = asdict(self)
        for name in ("metadata_fields", "dense"):
            if not content[name]:
                del content[name]
        if self.dense and not self.dense.settings.words:
            del content["dense"]["settings"]["words"]
        format_ = FORMAT if self.metadata_fields else FORMAT_WITHOUT_FIELDS
        if self.dense:
            format_ = FORMAT_OF_BOTH if self.dense.settings.words else FORMAT_OF_VECTORS
        return {_KEY: {"format": format_, "analyzer": ANALYZER, **content}}


def record_of(meta: Mapping[str, Any]) -> Record | None:
    """Return the record in a ``_meta``, None if there is none that this version can read."""
    try:
        fields = dict(meta[_KEY])
        format_, analyzer = fields.pop("format"), fields.pop("analyzer")
        builder = fields.pop("builder")
        if format_ not in _FORMATS or analyzer != ANALYZER:
            return None
        declared = tuple(fields.pop("metadata_fields", ()))
        vectors = fields.pop("dense", None)
        by = Builder(**builder) if builder else None
        dense = dense_of(vectors) if vectors else None
        return Record(**fields, builder=by, metadata_fields=declared, dense=dense)
    except (KeyError, TypeError, ValueError):
        return None


def damaged(name: str, what: str) -> DataCorrupt:
    """Return the error for a damaged index, with advice."""
    again = f"rebuild it with --replace, or drop it: scaar index drop {name}"
    text = f"the index {name!r} is damaged: {what}; {again}"
    return DataCorrupt(text, index=name, damage=what)
