"""Records without texts have none, in any event, whatever field it is in."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core import types as t
from scaar.core.records import AnswerRecord, RecordContent, RecordSummary
from scaar.records.redaction import digest, redacted, redacted_summary
from scaar.testing.answer_records import redacted_record
from scaar.testing.values import values_of
from scaar.wire.records import record_message

NAMES = {
    ("AcceptedSentence", "passage_ids"),
    ("AnswerRequest", "index"),
    ("AnswerRequest", "prompt_profile"),
    ("AnswerRequest", "request_id"),
    ("AcceptedSentence", "supporting_passage_ids"),
    ("Degradation", "reason"),
    ("Degradation", "stage"),
    ("Filter", "field"),
    ("FilteredPassage", "id"),
    ("GateJudged", "gate"),
    ("GateJudged", "policy"),
    ("MetadataField", "name"),
    ("Passage", "id"),
    ("PassagesRetrieved", "excluded_ids"),
    ("PassagesRetrieved", "index"),
    ("PassagesRetrieved", "index_version"),
    ("Query", "formulation"),
    ("RetrievedPassage", "id"),
    ("ScoredCandidate", "passage_id"),
}
"""Fields that keep their values: names, ids and reasons."""
WHOLE = {"Provenance", "EffectivePolicy", "QuerySettings", "PolicyRequest", "PolicyOverrides"}
"""Types whose fields are names of models, indexes and settings."""
SUMMARY = RecordSummary(
    id="r",
    request_id="q",
    tenant="t",
    created_at="2026-03-01T00:00:00Z",
    content=RecordContent.FULL,
    policy="scaar",
    question="secret",
    answer="secret",
)
REQUESTS = values_of(t.AnswerRequest, policy=st.just(t.PolicyRequest("flare")))
KEY = b"0123456789abcdef"


def marked(value: Any) -> Any:
    """Return the value with a secret in place of every text."""
    if isinstance(value, str) and type(value) is str:
        return "secret"
    if isinstance(value, tuple):
        return tuple(marked(each) for each in value)
    if isinstance(value, Mapping):
        return {f"key {at}": marked(each) for at, each in enumerate(value.values())}
    if is_dataclass(value) and type(value).__name__ not in WHOLE:
        instance: Any = value
        changed = {each.name: marked(getattr(value, each.name)) for each in fields(instance)}
        return replace(instance, **changed)
    return value


def texts(value: Any, place: tuple[str, str] = ("", "")) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield every text with its type and field."""
    if type(value) is str:
        yield place, value
    elif isinstance(value, tuple):
        for each in value:
            yield from texts(each, place)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from texts(each, place)
    elif is_dataclass(value) and type(value).__name__ not in WHOLE:
        for field in fields(value):
            yield from texts(getattr(value, field.name), (type(value).__name__, field.name))


@pytest.mark.parametrize("kind", t.AnswerEvent.__args__, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_an_event_keeps_names_only(kind: type, data: st.DataObject) -> None:
    event = marked(data.draw(values_of(kind)))
    request = marked(data.draw(REQUESTS))
    record = AnswerRecord(SUMMARY, request, (event,), (1.0,), error="secret")
    bare = redacted_record(record, RecordContent.NONE)
    left = {place for place, text in texts((bare.request, bare.events)) if text == "secret"}
    assert left <= NAMES
    assert bare.error == ""
    assert (bare.summary.question, bare.summary.answer) == ("", "")
    assert redacted_record(bare, RecordContent.NONE) == bare
    hashed = redacted_record(record, RecordContent.HASHED, KEY)
    others = {text for place, text in texts((hashed.request, hashed.events)) if place not in NAMES}
    assert others <= {"", digest("secret", KEY)}


@pytest.mark.parametrize("content", [RecordContent.NONE, RecordContent.HASHED])
def test_the_bytes_of_a_record_have_no_text(content: RecordContent) -> None:
    request = t.AnswerRequest("secret", t.PolicyRequest("flare"), index="lab")
    event = t.SentenceRegenerated(0, "secret", "secret")
    message = record_message(request, [event], [1.0], "secret")
    assert message.SerializeToString().count(b"secret") == 4
    found = redacted(message, content, KEY)
    assert b"secret" not in found
    assert b"lab" in found


def test_digests_are_keyed_and_equal_for_equal_texts() -> None:
    assert digest("Ada", KEY) == digest("Ada", KEY) != digest("Ada", b"another key of it")
    assert digest("", KEY) == ""
    assert len(digest("Ada", KEY)) == 16


def test_a_whole_record_is_left_as_it_is() -> None:
    message = record_message(t.AnswerRequest("secret", t.PolicyRequest("flare")))
    assert redacted(message, RecordContent.FULL) == message.SerializeToString()
    assert redacted_summary(SUMMARY, RecordContent.FULL) == SUMMARY
    assert redacted_summary(SUMMARY, RecordContent.NONE).content is RecordContent.NONE
