"""What is kept of an index in its mapping's ``_meta``: what it is, and who is building it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from scaar.core.errors import DataCorrupt
from scaar.core.types import DenseDescription, IndexDescription
from scaar.retriever.manifest import dense_of
from scaar.retriever.opensearch_content import ANALYZER
from scaar.retriever.opensearch_vectors import Json

ENGINE = "opensearch"
FORMAT_OF_VECTORS = 3
FORMAT = 2
"""With the fields that passages may carry. An index of words that declares none is of the format
before, which earlier versions read too."""
FORMAT_WITHOUT_FIELDS = 1
_FORMATS = (FORMAT_WITHOUT_FIELDS, FORMAT, FORMAT_OF_VECTORS)
_KEY = "scaar"


@dataclass(frozen=True, slots=True)
class Builder:
    """Who builds an index, and when it last said so, in seconds since 1970."""

    host: str
    pid: int
    token: str
    renewed: float


@dataclass(frozen=True, slots=True)
class Record:
    """An index: what it is built with and, once it is whole, what it holds."""

    name: str
    k1: float
    b: float
    shards: int
    builder: Builder | None = None
    version: str = ""
    """Empty until the index is whole."""
    content: str = ""
    """The sum that :class:`scaar.retriever.opensearch_content.Content` goes on from."""
    passages: int = 0
    created: str = ""
    size_bytes: int = 0
    metadata_fields: tuple[str, ...] = ()
    dense: DenseDescription | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the index was built to its end."""
        return bool(self.version)

    def description(self) -> IndexDescription:
        """The index as the port describes it."""
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
        )

    def plain(self, builder: Builder | None = None) -> "Record":
        """The record of an index that is built alike, and holds nothing yet."""
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
        """The record with its builder seen at that time."""
        assert self.builder
        return replace(self, builder=replace(self.builder, renewed=seconds))

    def meta(self) -> Json:
        """The ``_meta`` of the mapping."""
        kept = asdict(self)
        for name in ("metadata_fields", "dense"):
            if not kept[name]:
                del kept[name]
        format_ = FORMAT if self.metadata_fields else FORMAT_WITHOUT_FIELDS
        if self.dense:
            format_ = FORMAT_OF_VECTORS
        return {_KEY: {"format": format_, "analyzer": ANALYZER, **kept}}


def record_of(meta: Mapping[str, Any]) -> Record | None:
    """The record in a ``_meta``; None where there is none that this version knows."""
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
    """The error for an index that does not hold together, and what to do about it."""
    again = f"build it again with --replace, or drop it: scaar index drop {name}"
    text = f"the index {name!r} is damaged: {what}; {again}"
    return DataCorrupt(text, index=name, damage=what)
