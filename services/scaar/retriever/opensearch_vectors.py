"""Vectors on OpenSearch, by its k-NN plugin with Lucene's engine, which is named always.

Other engines of the plugin are libraries of its own, which not every node has.
"""

from collections.abc import Sequence

from scaar.core.types import DenseDescription, DenseSettings, HnswSettings, VectorMetric
from scaar.retriever.dense import Vectors

# Requests and answers of OpenSearch are JSON.
Json = dict[str, object]

VECTOR = "vector"

_SPACES = {VectorMetric.INNER_PRODUCT: "innerproduct", VectorMetric.L2: "l2"}


_KEPT_BY_ALL = HnswSettings(m=2, ef_construction=2)
"""The graph of an index that is searched exactly, as small as it may be and used by no search:
without any the plugin breaks an index whose mapping is updated, as that is which tells of an index
(its issue 2540, open in 2.19)."""


def vector_settings() -> Json:
    """The settings of an index of vectors."""
    return {"knn": True}


def vector_field(dense: DenseDescription) -> Json:
    """The field of the mapping that holds a passage's vector."""
    graph = dense.settings.hnsw or _KEPT_BY_ALL
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


def by_graph(vector: Vectors, candidates: int) -> Json:
    """The query for the nearest vectors by the graph; Lucene looks at as many as are asked for."""
    return {"knn": {VECTOR: {"vector": numbers_of(vector), "k": candidates}}}


def every_vector(vector: Vectors, settings: DenseSettings, wanted: Sequence[Json]) -> Json:
    """The query that weighs every vector of the passages that fit all that is wanted."""
    params = {
        "field": VECTOR,
        "query_value": numbers_of(vector),
        "space_type": _SPACES[settings.metric],
    }
    return {
        "script_score": {
            "query": {"bool": {"filter": list(wanted)}} if wanted else {"match_all": {}},
            "script": {"lang": "knn", "source": "knn_score", "params": params},
        }
    }


def score_of(score: float, settings: DenseSettings) -> float:
    """The score of the port; what OpenSearch tells is over 0, and grows with it."""
    if settings.metric is VectorMetric.L2:
        return 1 - 1 / score
    return score - 1 if score >= 1 else 1 - 1 / score


def numbers_of(vector: Vectors) -> list[float]:
    """The numbers, each in the fewest digits that tell it from its neighbours."""
    return [float(str(each)) for each in vector]
