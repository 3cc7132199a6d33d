import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from scaar.core.types import DenseDescription, DenseSettings, Filter, MetadataField, Passage
from scaar.retriever.opensearch.schema import (
    document_id,
    index_body,
    index_lines,
    mappings,
    passage_of,
    search_lines,
)
from scaar.retriever.settings import RetrieverSettings
from scaar.testing.values import values_of

DEPLOY = Path(__file__).parents[5] / "deploy" / "opensearch"


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=512))
def test_the_id_of_a_document_is_that_of_its_passage_or_a_digest(passage_id: str) -> None:
    found = document_id(passage_id)
    assert len(found.encode()) <= 512
    assert (found == passage_id) is (len(passage_id.encode()) <= 512)


FIELDS = st.lists(values_of(MetadataField), unique_by=lambda each: each.name).map(tuple)


@given(values_of(Passage, metadata=FIELDS))
def test_a_passage_is_stored_unchanged(passage: Passage) -> None:
    head, document = index_lines(passage).splitlines()
    assert json.loads(head) == {"index": {"_id": passage.id}}
    assert passage_of(json.loads(document)) == passage


def test_a_search_of_several_shards_collects_their_term_statistics() -> None:
    heads = [
        json.loads(search_lines("i", "q", 3, shards=shards).splitlines()[0]) for shards in (1, 2)
    ]
    assert [each.get("search_type") for each in heads] == [None, "dfs_query_then_fetch"]


def test_filters_do_not_affect_scores() -> None:
    filters = (Filter("tenant", ("acme",)), Filter("lang", ("en", "de")))
    lines = search_lines("i", "q", 3, shards=1, filters=filters)
    query = json.loads(lines.splitlines()[1])["query"]
    assert query["bool"] == {
        "must": [json.loads(search_lines("i", "q", 3, shards=1).splitlines()[1])["query"]],
        "filter": [
            {"terms": {"metadata.tenant": ["acme"]}},
            {"terms": {"metadata.lang": ["en", "de"]}},
        ],
    }


def test_excluded_passages_are_left_out_by_their_id() -> None:
    lines = search_lines("i", "q", 3, shards=1, excluded=("a", "b"))
    assert json.loads(lines.splitlines()[1])["query"]["bool"]["filter"] == [
        {"bool": {"must_not": {"terms": {"passage_id": ["a", "b"]}}}}
    ]


def test_a_passage_may_have_declared_fields_only() -> None:
    properties = mappings(("lang", "tenant"))["properties"]
    assert isinstance(properties, dict)
    kept = properties.pop("metadata")
    assert kept["dynamic"] == "strict"
    assert {name: each["type"] for name, each in kept["properties"].items()} == {
        "lang": "keyword",
        "tenant": "keyword",
    }
    assert properties == mappings()["properties"]


def test_a_hybrid_index_has_the_fields_of_both_kinds() -> None:
    vectors, both = (
        DenseDescription("e", "1", 8, DenseSettings(words=words)) for words in (False, True)
    )
    properties, of_words = mappings((), both)["properties"], mappings()["properties"]
    of_vectors = mappings((), vectors)["properties"]
    assert isinstance(of_vectors, dict)
    assert isinstance(of_words, dict)
    assert properties == of_vectors | of_words
    made = index_body(k1=0.9, b=0.4, shards=1, meta={}, dense=both)["settings"]
    assert isinstance(made, dict)
    assert made["index"]["similarity"]["default"] == {"type": "BM25", "k1": 0.9, "b": 0.4}
    assert made["index"]["knn"] is True


def test_the_deployed_template_matches_new_indexes() -> None:
    template = json.loads((DEPLOY / "index-template.json").read_text())
    settings = RetrieverSettings()
    body = index_body(k1=settings.k1, b=settings.b, shards=1, meta={})
    made = body["settings"]
    assert isinstance(made, dict)
    assert template["index_patterns"] == [f"{settings.opensearch_prefix}*~*"]
    assert template["template"]["mappings"] == mappings()
    assert template["template"]["settings"]["index"]["similarity"] == made["index"]["similarity"]
