"""Vector fields and queries on OpenSearch, for its k-NN plugin with the Lucene engine.

The plugin's other engines are native libraries, which not every node has.
"""

from collections.abc import Sequence

from scaar.core.types import DenseDescription, DenseSettings, HnswSettings, VectorMetric
from scaar.retriever.dense import Vectors

# Requests and answers of OpenSearch are JSON.
Json = dict[str, object]

VECTOR = "vector"

_SPACES = {VectorMetric.INNER_PRODUCT: "innerproduct", VectorMetric.L2: "l2"}


_UNUSED_GRAPH = HnswSettings(m=2, ef_construction=2)
"""Smallest possible graph, for indexes that are searched exactly. No search uses the graph, but
without one the plugin breaks an index when its mapping is updated, as the record requires (issue
2540 of the plugin, open in 2.19)."""


def vector_settings() -> Json:
    """Return the settings of a vector index."""
    return {"knn": True}


def vector_field(dense: DenseDescription) -> Json:
    """Return the mapping of the field with a passage's vector."""
    graph = dense.settings.hnsw or _UNUSED_GRAPH
    return {
        "type": "knn_vector",
        "dimension": dense.width,
        "method": {
            "name": "hnsw",
            "engine": "lucene",
            "space_type": _SPACES[dense.settings.metric],
            "parameters": {"m": graph.m, "ef_construction": graph.ef_construction},
        },
    }


def graph_query(vector: Vectors, candidates: int) -> Json:
    """Return the query for the nearest vectors by the graph. Lucene examines ``candidates``."""
    return {"knn": {VECTOR: {"vector": vector_numbers(vector), "k": candidates}}}


def exact_query(vector: Vectors, settings: DenseSettings, clauses: Sequence[Json]) -> Json:
    """Return the query that scores every passage that matches all clauses of the filters."""
    params = {
        "field": VECTOR,
        "query_value": vector_numbers(vector),
        "space_type": _SPACES[settings.metric],
    }
    return {
        "script_score": {
            "query": {"bool": {"filter": list(clauses)}} if clauses else {"match_all": {}},
            "script": {"lang": "knn", "source": "knn_score", "params": params},
        }
    }


def port_score(score: float, settings: DenseSettings) -> float:
    """Convert OpenSearch's score, which is always positive, to the score of the port."""
    if settings.metric is VectorMetric.L2:
        return 1 - 1 / score
    return score - 1 if score >= 1 else 1 - 1 / score


def vector_numbers(vector: Vectors) -> list[float]:
    """Return the numbers, each rounded to the fewest digits that identify the float32 value."""
    return [float(str(each)) for each in vector]
