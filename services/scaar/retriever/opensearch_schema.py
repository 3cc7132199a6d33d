"""How an index on OpenSearch is laid out.

Title and text are searched as one field, which they are copied to: so BM25 gives the published
figures of collections that index ``title + " " + text``. An index of vectors has a vector in the
place of that field (:mod:`scaar.retriever.opensearch_vectors`). What is kept is the passage as it
came.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from scaar.core.types import DenseDescription, DenseSettings, Filter, Passage, RetrievedPassage
from scaar.retriever.dense import Vectors
from scaar.retriever.metadata import metadata_from_json, metadata_to_json
from scaar.retriever.opensearch_vectors import (
    VECTOR,
    Json,
    by_graph,
    every_vector,
    numbers_of,
    vector_field,
    vector_settings,
)

CONTENTS = "contents"
METADATA = "metadata"
_BY_ALL_SHARDS = "dfs_query_then_fetch"
_MOST_ID_BYTES = 512


def index_body(
    *,
    k1: float,
    b: float,
    shards: int,
    meta: Json,
    fields: Sequence[str] = (),
    dense: DenseDescription | None = None,
) -> Json:
    """The body that makes an index to be loaded: no replicas and no refresh meanwhile."""
    index: Json = {"number_of_shards": shards, "number_of_replicas": 0, "refresh_interval": "-1"}
    if dense is None:
        index["similarity"] = {"default": {"type": "BM25", "k1": k1, "b": b}}
    else:
        index |= vector_settings()
    layout = {**mappings(fields, dense), "_meta": meta}
    return {"settings": {"index": index}, "mappings": layout}


def mappings(fields: Sequence[str] = (), dense: DenseDescription | None = None) -> Json:
    """The strict mapping: nothing else, and no field but the declared, may be in a passage."""
    kept: Json = {"type": "text", "index": False}
    if dense is None:
        kept["copy_to"] = CONTENTS
    properties: Json = {"passage_id": {"type": "keyword"}, "title": kept, "text": kept}
    if dense is None:
        properties[CONTENTS] = {"type": "text", "analyzer": "english", "index_options": "freqs"}
    else:
        properties[VECTOR] = vector_field(dense)
    if fields:
        # They are filtered by, and neither sorted nor counted.
        keyword = {"type": "keyword", "doc_values": False}
        properties[METADATA] = {
            "dynamic": "strict",
            "properties": dict.fromkeys(fields, keyword),
        }
    layout: Json = {"dynamic": "strict", "properties": properties}
    if dense is not None:
        # It is read by no one, and longer than most passages.
        layout["_source"] = {"excludes": [VECTOR]}
    return layout


def document_id(passage_id: str) -> str:
    """The document's id, the same for the same passage: its id, or a digest of a longer one."""
    encoded = passage_id.encode()
    if len(encoded) <= _MOST_ID_BYTES:
        return passage_id
    return f"sha256:{hashlib.sha256(encoded).hexdigest()}"


def index_lines(passage: Passage, vector: "Vectors | None" = None) -> bytes:
    """The lines of a bulk request that put a passage in, over the one of its id."""
    document: Json = {"passage_id": passage.id, "title": passage.title, "text": passage.text}
    if passage.metadata:
        document[METADATA] = metadata_to_json(passage.metadata)
    if vector is not None:
        document[VECTOR] = numbers_of(vector)
    return _lines({"index": {"_id": document_id(passage.id)}}, document)


def delete_lines(passage_id: str) -> bytes:
    """The line of a bulk request that takes a passage out."""
    return _lines({"delete": {"_id": document_id(passage_id)}})


def search_lines(
    index: str, query: str, top_k: int, *, shards: int, filters: Sequence[Filter] = ()
) -> bytes:
    """The lines of a search for a query: best first, ties by passage id."""
    head: Json = {"index": index, "allow_partial_search_results": False}
    if shards > 1:
        # Otherwise each shard would weigh terms by its own passages.
        head["search_type"] = _BY_ALL_SHARDS
    # Half a surrogate pair is in no word.
    text = query.encode(errors="replace").decode()
    match: Json = {"match": {CONTENTS: {"query": text}}}
    if filters:
        # In the filter context they have no part in the scores.
        match = {"bool": {"must": [match], "filter": wanted_by(filters)}}
    return _lines(head, _best_of(match, top_k))


def vector_search_lines(
    index: str,
    vector: Vectors,
    top_k: int,
    *,
    settings: DenseSettings,
    filters: Sequence[Filter] = (),
) -> bytes:
    """The lines of a search for the passages nearest to a vector, ties by passage id.

    Those that fit filters are weighed one by one, whatever the index's way: a graph would find
    too few of them, or others.
    """
    head: Json = {"index": index, "allow_partial_search_results": False}
    wanted = wanted_by(filters)
    if settings.hnsw is None or filters:
        query = every_vector(vector, settings, wanted)
    else:
        query = by_graph(vector, max(top_k, settings.hnsw.ef_search))
    return _lines(head, _best_of(query, top_k))


def wanted_by(filters: Sequence[Filter]) -> list[Json]:
    """The clauses that a passage must fit, all of them."""
    return [{"terms": {f"{METADATA}.{each.field}": list(each.values)}} for each in filters]


def passage_of(source: Mapping[str, Any]) -> Passage:
    """A passage as it is kept.

    Raises:
        KeyError, TypeError, AttributeError: the document is none of ours.
    """
    metadata = metadata_from_json(source.get(METADATA, {}))
    return Passage(str(source["passage_id"]), str(source["title"]), str(source["text"]), metadata)


def found_of(source: Mapping[str, Any], score: float, rank: int) -> RetrievedPassage:
    """A passage as it was found."""
    kept = passage_of(source)
    return RetrievedPassage(kept.id, kept.title, kept.text, score, rank, kept.metadata)


def _best_of(query: Json, top_k: int) -> Json:
    return {
        "query": query,
        "size": top_k,
        "sort": [{"_score": "desc"}, {"passage_id": "asc"}],
        "track_total_hits": False,
    }


def _lines(*records: Mapping[str, object]) -> bytes:
    return b"".join(f"{json.dumps(each, ensure_ascii=False)}\n".encode() for each in records)
