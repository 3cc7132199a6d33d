"""An index on OpenSearch held against its record: its layout, and every passage."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from scaar.core.errors import BackendUnavailable, DataCorrupt, NotFound
from scaar.core.types import IndexCheck, IndexVerification
from scaar.retriever.conditions import changed_meanwhile
from scaar.retriever.metadata import undeclared
from scaar.retriever.opensearch_catalogue import Catalogue, Stored
from scaar.retriever.opensearch_content import Content
from scaar.retriever.opensearch_pages import Hit, pages_of
from scaar.retriever.opensearch_record import Record
from scaar.retriever.opensearch_schema import CONTENTS, document_id, mappings, passage_of
from scaar.retriever.opensearch_server import Server
from scaar.retriever.validation import wrong_fields

_PAGE = 1_000
_ATTEMPTS = 3


class Verification:
    """Verifies the indexes of a catalogue."""

    def __init__(self, server: Server, catalogue: Catalogue) -> None:
        self._server, self._catalogue = server, catalogue

    async def verify(self, name: str) -> IndexVerification:
        """What is right and what is wrong with the index that a name stands for.

        Raises:
            NotFound: there is none.
            Overloaded: it was replaced again and again meanwhile.
            BackendUnavailable: a shard of it is not there.
        """
        for _ in range(_ATTEMPTS):
            try:
                stored = await self._catalogue.find(name)
            except DataCorrupt as error:
                alias = IndexCheck("alias", error.metadata["damage"], right=False)
                return IndexVerification(name, "", (alias,))
            try:
                return await self._verified(name, stored)
            except (BackendUnavailable, NotFound):
                # Replaced or dropped while it was read: the name is looked up again.
                if not await self._catalogue.is_gone(stored):
                    raise
        raise changed_meanwhile(name)

    async def _verified(self, name: str, stored: Stored) -> IndexVerification:
        record = stored.record
        checks = [IndexCheck("alias", f"stands for {stored.index}", right=True)]
        if record is None or not record.is_whole or record.name != name:
            checks.append(IndexCheck("record", "does not say what the index is", right=False))
            return IndexVerification(name, "", tuple(checks))
        checks.append(IndexCheck("record", f"of {record.passages:,} passages", right=True))
        checks += _layout_checks(await self._catalogue.layout(stored.index), record)
        there = await self._catalogue.count(stored.index)
        counted = f"{there:,} are there" if there == record.passages else _differ(there, record)
        checks.append(IndexCheck("passages", counted, right=there == record.passages))
        checks += await self._content_checks(stored.index, record)
        return IndexVerification(name, record.version, tuple(checks))

    async def _content_checks(self, index: str, record: Record) -> Sequence[IndexCheck]:
        """Reads every passage, and holds the digest of them all against the record's."""
        content = Content()
        async with aclosing(pages_of(self._server, index, size=_PAGE, source=True)) as pages:
            async for page in pages:
                if wrong := _taken(page, content, record.metadata_fields):
                    return (IndexCheck("documents", wrong, right=False),)
        version = content.version(
            k1=record.k1, b=record.b, fields=record.metadata_fields, dense=record.dense
        )
        return (
            IndexCheck("documents", f"{content.passages:,} read, each one a passage", right=True),
            IndexCheck(
                "content",
                f"a digest of {content.total[:12]}",
                right=content.total == record.content,
            ),
            IndexCheck(
                "version", f"the passages make {version[:12]}", right=version == record.version
            ),
        )


def _taken(page: Sequence[Hit], content: Content, declared: Sequence[str]) -> str:
    """Takes a page of documents in; what is wrong with one of them, empty where nothing is.

    A document is in its passage's own place, so no id is there twice.
    """
    for hit in page:
        try:
            passage = passage_of(hit["_source"])
        except (KeyError, TypeError, AttributeError):
            return f"{hit['_id']!r} is no passage"
        for wrong in (*wrong_fields(passage), *undeclared(passage.id, passage.metadata, declared)):
            return f"{hit['_id']!r}: {wrong}"
        if hit["_id"] != document_id(passage.id):
            return f"{hit['_id']!r} is not where the passage {passage.id!r} is kept"
        content.add(passage)
    return ""


def _layout_checks(layout: Mapping[str, Any], record: Record) -> Iterator[IndexCheck]:
    properties = {
        name: _as_made(each) for name, each in layout["mappings"].get("properties", {}).items()
    }
    asked = mappings(record.metadata_fields, record.dense)
    made = {**layout["mappings"], "properties": properties}
    as_declared = {name: made.get(name) for name in asked} == asked
    fields = ", ".join(record.metadata_fields) or "none"
    told = f"strict, with the declared fields ({fields})" if as_declared else "another than built"
    yield IndexCheck("mapping", told, right=as_declared)
    settings = layout["settings"]["index"]
    yield _searched_by(settings, record)
    shards = settings.get("number_of_shards")
    yield IndexCheck("shards", str(shards), right=shards == str(record.shards))
    closed = settings.get("blocks", {}).get("write") == "true"
    yield IndexCheck("writing", "closed" if closed else "not closed", right=closed)


def _searched_by(settings: Mapping[str, Any], record: Record) -> IndexCheck:
    if record.dense is not None:
        kept = settings.get("knn") == "true"
        return IndexCheck("graph", "kept" if kept else "none", right=kept)
    weighed = settings.get("similarity", {}).get("default", {})
    shown = " ".join(f"{name} {weighed.get(name, 'unset')}" for name in ("type", "k1", "b"))
    same = weighed.get("type") == "BM25" and (_number(weighed, "k1"), _number(weighed, "b")) == (
        record.k1,
        record.b,
    )
    return IndexCheck("similarity", shown, right=same)


def _as_made(field: Mapping[str, Any]) -> Mapping[str, Any]:
    """A field as it was asked for; OpenSearch tells where it is copied to as a list."""
    return {**field, "copy_to": CONTENTS} if field.get("copy_to") == [CONTENTS] else field


def _number(kept: Mapping[str, str], name: str) -> float | None:
    try:
        return float(kept[name])
    except (KeyError, ValueError):
        return None


def _differ(there: int, record: Record) -> str:
    return f"{there:,} are there, not {record.passages:,}"
