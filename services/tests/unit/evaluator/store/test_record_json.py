from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import DataCorrupt
from scaar.core.queries import FORMULATIONS
from scaar.core.types import AnswerEnd, Degradation, JudgedWord, Query, Usage
from scaar.evaluator.records import Decision, Failure, Prediction, Question
from scaar.evaluator.store.record_json import RecordJson

TEXT = st.text(max_size=6)
NUMBER = st.floats(allow_nan=False, allow_infinity=False, width=64)
SHARE = st.floats(0, 1)
COUNT = st.integers(0, 2**40)
WORDS = st.builds(
    JudgedWord,
    text=TEXT,
    start=COUNT,
    end=COUNT,
    probability=st.none() | SHARE,
    threshold=SHARE,
    uncertain=st.booleans(),
    contribution=st.none() | SHARE,
    capped=st.booleans(),
)
QUERIES = st.builds(
    Query, TEXT, st.sampled_from(list(FORMULATIONS)), st.tuples(COUNT), st.booleans()
)
DECISIONS = st.builds(
    Decision,
    text=TEXT,
    draft=TEXT,
    words=st.lists(WORDS, max_size=2).map(tuple),
    score=st.none() | NUMBER,
    trigger=st.none() | COUNT,
    query=st.none() | QUERIES,
    passage_ids=st.lists(TEXT, max_size=3).map(tuple),
    degraded=st.none() | st.builds(Degradation, TEXT, TEXT, TEXT),
)
PREDICTIONS = st.builds(
    Prediction,
    setting=TEXT,
    question_id=TEXT,
    answer=TEXT,
    text=TEXT,
    usage=st.builds(Usage, COUNT, COUNT, COUNT, COUNT, NUMBER),
    end=st.none() | st.sampled_from(AnswerEnd),
    decisions=st.lists(DECISIONS, max_size=2).map(tuple),
    failure=st.none() | st.builds(Failure, TEXT, TEXT),
)


@given(PREDICTIONS)
def test_a_prediction_is_one_line_and_comes_back_to_the_last_digit(prediction: Prediction) -> None:
    records = RecordJson(Prediction)
    line = records.line(prediction)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert records.read(line, "here") == prediction


@dataclass(frozen=True, slots=True)
class Reported:
    needed: int | None
    reported: Mapping[str, Question]
    more: int | None = None


def test_a_document_leaves_out_default_nones_and_nothing_else() -> None:
    records = RecordJson(Reported)
    reported = Reported(None, {"ü": Question("q", "?", ("a",), "q")})
    document = records.document(reported)
    assert records.read(document, "here") == reported
    assert b'"needed": null' in document
    assert b"more" not in document
    assert "ü".encode() in document


def test_a_wrong_field_is_named_with_its_place() -> None:
    with pytest.raises(DataCorrupt) as error:
        RecordJson(Question).read(
            b'{"id": "q", "question": "?", "answers": 1, "entity": ""}', "l 7"
        )
    assert error.value.message == ("l 7 is corrupt: answers: Input should be a valid array")
