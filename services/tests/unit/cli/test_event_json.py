import dataclasses
import json

from hypothesis import given
from hypothesis import strategies as st

from scaar.cli.ask.event_json import event_line
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    MetadataField,
    Passage,
    PassagesRetrieved,
    RetrievedPassage,
    SentenceJudged,
    TokenDrafted,
)
from scaar.testing.values import values_of


def event_names(events: list[AnswerEvent]) -> list[str]:
    return [json.loads(event_line(event))["event"] for event in events]


def test_every_event_has_its_name_and_its_fields(answered: list[AnswerEvent]) -> None:
    names = [
        "answer_started",
        *("token_drafted",) * 2,
        "sentence_judged",
        "query_built",
        "passages_retrieved",
        "sentence_regenerated",
        "sentence_accepted",
        "token_drafted",
        "sentence_accepted",
        "answer_finished",
    ]
    assert event_names(answered) == names
    judged = json.loads(event_line(answered[3]))
    assert list(judged) == [
        *("event", "sentence", "text", "words", "trigger", "retrieving", "score", "signals"),
        "without_contributions",
        "scorer_mismatch",
        "abstains",
    ]
    assert judged["words"][1] == {
        "text": "[Paris].",
        "start": 5,
        "end": 13,
        "probability": None,
        "threshold": 0.95,
        "uncertain": True,
        "contribution": 0.2,
        "capped": False,
        "value": None,
        "entropy": None,
        "attention": None,
    }


def test_the_last_line_has_the_answer_and_its_usage_side_by_side(
    answered: list[AnswerEvent],
) -> None:
    last = json.loads(event_line(answered[-1]))
    assert {name: last[name] for name in list(last)[:8]} == {
        "event": "answer_finished",
        "answer": "London 🙂",
        "text": " Ada [London]. So the answer is London 🙂.",
        "retrievals": 1,
        "llm_calls": 3,
        "generated_tokens": 17,
        "prompt_tokens": 230,
        "latency_ms": 12.5,
    }
    assert last["end"] == "answer_phrase"
    assert [sentence["passage_ids"] for sentence in last["sentences"]] == [["p1"], []]
    assert last["provenance"]["policy"]["sources"] == {"theta": "model", "alpha": "paper"}


def test_the_metadata_of_a_passage_is_an_object_by_field() -> None:
    metadata = (MetadataField("tenant", ("acme",)), MetadataField("lang", ("en", "de")))
    found = RetrievedPassage("p1", "", "x", 1.0, 1, metadata)
    event = json.loads(event_line(PassagesRetrieved(0, "geo", "v1", (found,))))
    assert event["passages"][0]["metadata"] == {"tenant": ["acme"], "lang": ["en", "de"]}


def test_the_metadata_of_a_cited_passage_is_an_object_by_field(answered: list[AnswerEvent]) -> None:
    finished = answered[-1]
    assert isinstance(finished, AnswerFinished)
    passage = Passage("p1", "", "x", (MetadataField("tenant", ("acme",)),))
    answer = dataclasses.replace(finished.answer, passages=(passage,))
    event = json.loads(event_line(AnswerFinished(answer)))
    assert event["passages"][0]["metadata"] == {"tenant": ["acme"]}


def test_letters_of_every_script_are_not_escaped(answered: list[AnswerEvent]) -> None:
    assert "London 🙂" in event_line(answered[-1])


@given(
    st.one_of(
        *(values_of(kind) for kind in (AnswerStarted, TokenDrafted, SentenceJudged, AnswerFinished))
    )
)
def test_any_event_is_one_line_of_json(event: AnswerEvent) -> None:
    line = event_line(event)
    assert "\n" not in line
    assert "\r" not in line
    parsed = json.loads(line)
    assert isinstance(parsed, dict)
    if isinstance(event, AnswerFinished):
        assert parsed["answer"] == event.answer.answer
        assert parsed["text"] == event.answer.text
