import json

import pytest
from hypothesis import given

from scaar.retriever.opensearch.record import Record, record_of
from scaar.testing.values import values_of


@given(values_of(Record))
def test_a_record_is_read_as_it_was_stored(record: Record) -> None:
    assert record_of(json.loads(json.dumps(record.meta()))) == record


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"scaar": None},
        {"scaar": {"format": 1}},
        {"scaar": {"format": 2, "analyzer": "opensearch-english-1", "builder": None}},
    ],
)
def test_an_invalid_record_is_none(meta: dict[str, object]) -> None:
    assert record_of(meta) is None


def test_a_record_without_fields_has_the_format_of_earlier_versions() -> None:
    kept = Record("geo", 0.9, 0.4, 1).meta()["scaar"]
    assert isinstance(kept, dict)
    assert kept["format"] == 1
    assert "metadata_fields" not in kept
    declared = Record("geo", 0.9, 0.4, 1, metadata_fields=("tenant",)).meta()["scaar"]
    assert isinstance(declared, dict)
    assert declared["format"] == 2


def test_a_record_of_another_analysis_is_none() -> None:
    meta = Record("geo", 0.9, 0.4, 1).meta()
    inner = meta["scaar"]
    assert isinstance(inner, dict)
    assert record_of({"scaar": {**inner, "analyzer": "another"}}) is None
    assert record_of({"scaar": {**inner, "more": 1}}) is None
