"""Layout of an index on OpenSearch: its mapping, its documents and its queries.

Title and text are copied to one field, which is searched, so that BM25 reproduces the published
figures of collections that index ``title + " " + text``. A vector index has a vector in place of
that field (:mod:`scaar.retriever.opensearch.vectors`), a hybrid index both. Passages are stored
unchanged.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from scaar.core.types import DenseDescription, DenseSettings, Filter, Passage, RetrievedPassage
from scaar.retriever.dense import Vectors
from scaar.retriever.metadata import metadata_from_json, metadata_to_json
from scaar.retriever.opensearch.vectors import (
    VECTOR,
    Json,
    exact_query,
    graph_query,
    vector_field,
    vector_numbers,
    vector_settings,
)

CONTENTS = "contents"
METADATA = "metadata"
_ALL_SHARD_STATISTICS = "dfs_query_then_fetch"
_MAX_ID_BYTES = 512


def index_body(
    *,
    k1: float,
    b: float,
    shards: int,
    meta: Json,
    fields: Sequence[str] = (),
    dense: DenseDescription | None = None,
) -> Json:
    """Return the body of the request that creates an index to load, without replicas or refresh."""
    index: Json = {"number_of_shards": shards, "number_of_replicas": 0, "refresh_interval": "-1"}
    if has_words(dense):
        index["similarity"] = {"default": {"type": "BM25", "k1": k1, "b": b}}
    if dense is not None:
        index |= vector_settings()
    layout = {**mappings(fields, dense), "_meta": meta}
    return {"settings": {"index": index}, "mappings": layout}


def has_words(dense: DenseDescription | None) -> bool:
    """Return whether an index with these vectors, if any, has the words of its passages."""
    return dense is None or dense.settings.words


def mappings(fields: Sequence[str] = (), dense: DenseDescription | None = None) -> Json:
    """Return the strict mapping, which rejects undeclared fields."""
    stored: Json = {"type": "text", "index": False}
    if has_words(dense):
        stored["copy_to"] = CONTENTS
    properties: Json = {"passage_id": {"type": "keyword"}, "title": stored, "text": stored}
    if has_words(dense):
        properties[CONTENTS] = {"type": "text", "analyzer": "english", "index_options": "freqs"}
    if dense is not None:
        properties[VECTOR] = vector_field(dense)
    if fields:
        # The fields are used in filters only, neither sorted nor aggregated.
        keyword = {"type": "keyword", "doc_values": False}
        properties[METADATA] = {
            "dynamic": "strict",
            "properties": dict.fromkeys(fields, keyword),
        }
    layout: Json = {"dynamic": "strict", "properties": properties}
    if dense is not None:
        # The vector is never read back, and is longer than most passages.
        layout["_source"] = {"excludes": [VECTOR]}
    return layout


def document_id(passage_id: str) -> str:
    """Return the document id of a passage: the passage's id, or its digest if it is too long."""
    encoded = passage_id.encode()
    if len(encoded) <= _MAX_ID_BYTES:
        return passage_id
    return f"sha256:{hashlib.sha256(encoded).hexdigest()}"


def index_lines(passage: Passage, vector: "Vectors | None" = None) -> bytes:
    """Return the lines of a bulk request that write a passage, replacing any of the same id."""
    document: Json = {"passage_id": passage.id, "title": passage.title, "text": passage.text}
    if passage.metadata:
        document[METADATA] = metadata_to_json(passage.metadata)
    if vector is not None:
        document[VECTOR] = vector_numbers(vector)
    return _lines({"index": {"_id": document_id(passage.id)}}, document)


def delete_lines(passage_id: str) -> bytes:
    """Return the line of a bulk request that deletes a passage."""
    return _lines({"delete": {"_id": document_id(passage_id)}})


def search_lines(
    index: str,
    query: str,
    top_k: int,
    *,
    shards: int,
    filters: Sequence[Filter] = (),
    excluded: Sequence[str] = (),
    only: Sequence[str] = (),
) -> bytes:
    """Return the lines of a search for a query, best first, ties by passage id.

    With ``only``, the passages of these ids are returned, also those that match no word.
    """
    head: Json = {"index": index, "allow_partial_search_results": False}
    if shards > 1:
        # Otherwise each shard would weight terms by its own passages.
        head["search_type"] = _ALL_SHARD_STATISTICS
    # No indexed word contains an unpaired surrogate.
    text = query.encode(errors="replace").decode()
    match: Json = {"match": {CONTENTS: {"query": text}}}
    if only:
        # An optional clause leaves passages without any of the words, with score 0.
        query_of_all: Json = {
            "should": [match],
            "minimum_should_match": 0,
            "filter": _clauses(filters, excluded, only),
        }
        match = {"bool": query_of_all}
    elif clauses := _clauses(filters, excluded):
        # The filter context does not affect the scores.
        match = {"bool": {"must": [match], "filter": clauses}}
    return _lines(head, _best_of(match, top_k))


def vector_search_lines(
    index: str,
    vector: Vectors,
    top_k: int,
    *,
    settings: DenseSettings,
    filters: Sequence[Filter] = (),
    excluded: Sequence[str] = (),
    only: Sequence[str] = (),
) -> bytes:
    """Return the lines of a search for the passages nearest to a vector, ties by passage id.

    With filters, or ``only`` the passages of some ids, the search is always exact, since a graph
    would find too few of the matching passages, or other ones. With exclusions, a graph examines as
    many more candidates.
    """
    head: Json = {"index": index, "allow_partial_search_results": False}
    clauses = _clauses(filters, excluded, only)
    if settings.hnsw is None or filters or only:
        query = exact_query(vector, settings, clauses)
    else:
        query = graph_query(vector, max(top_k + len(excluded), settings.hnsw.ef_search))
        if clauses:
            query = {"bool": {"must": [query], "filter": clauses}}
    return _lines(head, _best_of(query, top_k))


def _clauses(
    filters: Sequence[Filter], excluded: Sequence[str], only: Sequence[str] = ()
) -> list[Json]:
    """Return the clauses of a filter context, all of which a passage must match."""
    clauses: list[Json] = [
        {"terms": {f"{METADATA}.{each.field}": list(each.values)}} for each in filters
    ]
    if excluded:
        clauses.append({"bool": {"must_not": {"terms": {"passage_id": list(excluded)}}}})
    if only:
        clauses.append({"terms": {"passage_id": list(only)}})
    return clauses


def passage_of(source: Mapping[str, Any]) -> Passage:
    """Return the passage of a document.

    Raises:
        KeyError, TypeError, AttributeError: the document is not a passage.
    """
    metadata = metadata_from_json(source.get(METADATA, {}))
    return Passage(str(source["passage_id"]), str(source["title"]), str(source["text"]), metadata)


def retrieved_passage(source: Mapping[str, Any], score: float, rank: int) -> RetrievedPassage:
    """Return the retrieved passage of a document, with its score and rank."""
    stored = passage_of(source)
    return RetrievedPassage(stored.id, stored.title, stored.text, score, rank, stored.metadata)


def _best_of(query: Json, top_k: int) -> Json:
    return {
        "query": query,
        "size": top_k,
        "sort": [{"_score": "desc"}, {"passage_id": "asc"}],
        "track_total_hits": False,
    }


def _lines(*records: Mapping[str, object]) -> bytes:
    return b"".join(f"{json.dumps(each, ensure_ascii=False)}\n".encode() for each in records)
