import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.types import (
    DenseDescription,
    DenseSettings,
    Filter,
    HnswSettings,
    Passage,
    VectorMetric,
)
from scaar.retriever.opensearch.record import Record, record_of
from scaar.retriever.opensearch.schema import index_body, index_lines, vector_search_lines
from scaar.retriever.opensearch.vectors import port_score

GRAPH = DenseSettings(VectorMetric.L2, HnswSettings(m=8, ef_construction=50, ef_search=40))
VECTOR = np.array([0.1, -2.0], dtype=np.float32)


def body_of(settings: DenseSettings) -> dict[str, dict[str, object]]:
    dense = DenseDescription("e", "r", 2, settings)
    body: dict[str, dict[str, object]] = json.loads(
        json.dumps(index_body(k1=0, b=0, shards=1, meta={}, dense=dense))
    )
    return body


def query_of(
    settings: DenseSettings, *filters: Filter, top_k: int = 3, excluded: Sequence[str] = ()
) -> dict[str, object]:
    lines = vector_search_lines(
        "i", VECTOR, top_k, settings=settings, filters=filters, excluded=excluded
    )
    query: dict[str, object] = json.loads(lines.splitlines()[1])["query"]
    return query


def test_the_engine_of_a_graph_is_named() -> None:
    body = body_of(GRAPH)
    assert body["settings"]["index"] == {
        "knn": True,
        "number_of_shards": 1,
        "number_of_replicas": 0,
        "refresh_interval": "-1",
    }
    properties = body["mappings"]["properties"]
    assert isinstance(properties, dict)
    assert properties["vector"] == {
        "type": "knn_vector",
        "dimension": 2,
        "method": {
            "name": "hnsw",
            "engine": "lucene",
            "space_type": "l2",
            "parameters": {"m": 8, "ef_construction": 50},
        },
    }
    assert "contents" not in properties
    assert body["mappings"]["_source"] == {"excludes": ["vector"]}


def test_a_search_uses_the_graph_and_is_exact_with_a_filter() -> None:
    assert query_of(GRAPH) == {"knn": {"vector": {"vector": [0.1, -2.0], "k": 40}}}
    assert query_of(GRAPH, top_k=60)["knn"] == {"vector": {"vector": [0.1, -2.0], "k": 60}}
    exact = query_of(DenseSettings())["script_score"]
    assert isinstance(exact, dict)
    assert exact["query"] == {"match_all": {}}
    assert exact["script"]["params"]["space_type"] == "innerproduct"
    filtered = query_of(GRAPH, Filter("tenant", ("acme",)))["script_score"]
    assert isinstance(filtered, dict)
    assert filtered["query"] == {"bool": {"filter": [{"terms": {"metadata.tenant": ["acme"]}}]}}


def test_a_graph_examines_more_candidates_if_passages_are_excluded() -> None:
    clause = {"bool": {"must_not": {"terms": {"passage_id": ["a", "b"]}}}}
    assert query_of(GRAPH, top_k=39, excluded=("a", "b")) == {
        "bool": {
            "must": [{"knn": {"vector": {"vector": [0.1, -2.0], "k": 41}}}],
            "filter": [clause],
        }
    }
    exact = query_of(DenseSettings(), excluded=("a", "b"))["script_score"]
    assert isinstance(exact, dict)
    assert exact["query"] == {"bool": {"filter": [clause]}}


def test_a_vector_is_sent_with_its_passage_in_the_fewest_digits() -> None:
    _, document = index_lines(Passage("a", "", "x"), VECTOR).splitlines()
    kept = json.loads(document)["vector"]
    assert kept == [0.1, -2.0]
    assert np.array_equal(np.array(kept, dtype=np.float32), VECTOR)


@given(st.floats(-100, 100))
def test_scores_are_converted_to_those_of_the_port(score: float) -> None:
    product = score + 1 if score >= 0 else 1 / (1 - score)
    assert port_score(product, DenseSettings()) == pytest.approx(score, abs=1e-9)
    distance = abs(score)
    assert port_score(1 / (1 + distance), GRAPH) == pytest.approx(-distance, abs=1e-9)


@pytest.mark.parametrize("settings", [DenseSettings(), GRAPH])
def test_a_record_contains_the_search_settings_of_vectors(settings: DenseSettings) -> None:
    dense = DenseDescription("e", "r", 2, settings)
    record = Record("geo", 0.0, 0.0, 1, dense=dense)
    assert record_of(json.loads(json.dumps(record.meta()))) == record
    assert record.description().dense == dense
