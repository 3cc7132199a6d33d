"""Full verification of an index on OpenSearch: its layout and every passage against its record."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from scaar.core.errors import BackendUnavailable, DataCorrupt, NotFound
from scaar.core.plurals import counted
from scaar.core.types import IndexCheck, IndexVerification
from scaar.retriever.conditions import changed_concurrently
from scaar.retriever.metadata import undeclared_fields
from scaar.retriever.opensearch.catalogue import Catalogue, StoredIndex
from scaar.retriever.opensearch.content import Content
from scaar.retriever.opensearch.pages import Hit, pages_of
from scaar.retriever.opensearch.record import Record
from scaar.retriever.opensearch.schema import CONTENTS, document_id, has_words, mappings, passage_of
from scaar.retriever.opensearch.server import Server
from scaar.retriever.validation import passage_violations

_PAGE = 1_000
_ATTEMPTS = 3


class Verification:
    """Verifies the indexes of a catalogue."""

    def __init__(self, server: Server, catalogue: Catalogue) -> None:
        self._server, self._catalogue = server, catalogue

    async def verify(self, name: str) -> IndexVerification:
        """Verify the current index of a name.

        Raises:
            NotFound: there is no such index.
            Overloaded: the index was replaced repeatedly meanwhile.
            BackendUnavailable: a shard of the index is missing.
        """
        for _ in range(_ATTEMPTS):
            try:
                stored = await self._catalogue.find(name)
            except DataCorrupt as error:
                alias = IndexCheck("alias", error.metadata["damage"], passed=False)
                return IndexVerification(name, "", (alias,))
            try:
                return await self._verified(name, stored)
            except (BackendUnavailable, NotFound):
                # If the index was replaced or dropped meanwhile, look up the current one.
                if not await self._catalogue.is_stale(stored):
                    raise
        raise changed_concurrently(name)

    async def _verified(self, name: str, stored: StoredIndex) -> IndexVerification:
        record = stored.record
        checks = [IndexCheck("alias", f"points to {stored.index}", passed=True)]
        if record is None or not record.is_complete or record.name != name:
            checks.append(IndexCheck("record", "missing or of another index", passed=False))
            return IndexVerification(name, "", tuple(checks))
        checks.append(
            IndexCheck("record", f"of {counted(record.passages, 'passage')}", passed=True)
        )
        checks += _layout_checks(await self._catalogue.layout(stored.index), record)
        count = await self._catalogue.count(stored.index)
        same = count == record.passages
        text = f"{count:,} found" if same else f"{count:,} found, not {record.passages:,}"
        checks.append(IndexCheck("passages", text, passed=same))
        checks += await self._content_checks(stored.index, record)
        return IndexVerification(name, record.version, tuple(checks))

    async def _content_checks(self, index: str, record: Record) -> Sequence[IndexCheck]:
        """Read every passage, and compare the digest of all with the record."""
        content = Content()
        async with aclosing(pages_of(self._server, index, size=_PAGE, source=True)) as pages:
            async for page in pages:
                if wrong := _new_passages(page, content, record.metadata_fields):
                    return (IndexCheck("documents", wrong, passed=False),)
        version = content.version(
            k1=record.k1, b=record.b, fields=record.metadata_fields, dense=record.dense
        )
        return (
            IndexCheck("documents", f"{content.passages:,} read, all valid", passed=True),
            IndexCheck(
                "content",
                f"digest {content.total[:12]}",
                passed=content.total == record.content,
            ),
            IndexCheck(
                "version", f"{version[:12]}, from the passages", passed=version == record.version
            ),
        )


def _new_passages(page: Sequence[Hit], content: Content, declared: Sequence[str]) -> str:
    """Add a page of documents to the content. Return the first violation, else an empty text.

    Document ids derive from passage ids, so no passage id occurs twice.
    """
    for hit in page:
        try:
            passage = passage_of(hit["_source"])
        except (KeyError, TypeError, AttributeError):
            return f"{hit['_id']!r} is not a passage"
        for wrong in (
            *passage_violations(passage),
            *undeclared_fields(passage.id, passage.metadata, declared),
        ):
            return f"{hit['_id']!r}: {wrong}"
        if hit["_id"] != document_id(passage.id):
            return f"{hit['_id']!r} is not the document id of the passage {passage.id!r}"
        content.add(passage)
    return ""


def _layout_checks(layout: Mapping[str, Any], record: Record) -> Iterator[IndexCheck]:
    properties = {
        name: _as_made(each) for name, each in layout["mappings"].get("properties", {}).items()
    }
    expected = mappings(record.metadata_fields, record.dense)
    actual = {**layout["mappings"], "properties": properties}
    same = {name: actual.get(name) for name in expected} == expected
    fields = ", ".join(record.metadata_fields) or "none"
    text = f"strict, with the declared fields ({fields})" if same else "differs from the built one"
    yield IndexCheck("mapping", text, passed=same)
    settings = layout["settings"]["index"]
    yield from _searched_by(settings, record)
    shards = settings.get("number_of_shards")
    yield IndexCheck("shards", str(shards), passed=shards == str(record.shards))
    blocked = settings.get("blocks", {}).get("write") == "true"
    yield IndexCheck("writing", "blocked" if blocked else "not blocked", passed=blocked)


def _searched_by(settings: Mapping[str, Any], record: Record) -> Iterator[IndexCheck]:
    if record.dense is not None:
        exists = settings.get("knn") == "true"
        yield IndexCheck("graph", "present" if exists else "missing", passed=exists)
    if not has_words(record.dense):
        return
    similarity = settings.get("similarity", {}).get("default", {})
    shown = " ".join(f"{name} {similarity.get(name, 'unset')}" for name in ("type", "k1", "b"))
    numbers = _number(similarity, "k1"), _number(similarity, "b")
    same = similarity.get("type") == "BM25" and numbers == (record.k1, record.b)
    yield IndexCheck("similarity", shown, passed=same)


def _as_made(field: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a field as requested. OpenSearch reports ``copy_to`` as a list."""
    return {**field, "copy_to": CONTENTS} if field.get("copy_to") == [CONTENTS] else field


def _number(settings: Mapping[str, str], name: str) -> float | None:
    try:
        return float(settings[name])
    except (KeyError, ValueError):
        return None
