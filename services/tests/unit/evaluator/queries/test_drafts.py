"""Drafts from files: every record read, every wrong one named."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.evaluator.records import Question
from scaar.evaluator.studies.queries.drafts import Draft, drafts_of, read_drafts

TEXT = "Ann B. Low made the film. She was born in 1931. So the answer is: 1931."


@pytest.fixture
def written(tmp_path):
    def write(*records, name="drafts.jsonl"):
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(each) for each in records))
        return path

    return write


def questions(*ids):
    return [Question(each, "Who?", ("Ann",), each, supports=("p",)) for each in ids]


def refused(path, **options):
    with pytest.raises(InvalidRequest) as error:
        read_drafts(path, **options)
    (violation,) = error.value.violations
    return violation


def test_a_draft_is_split_into_sentences_that_are_its_text(written):
    (draft,), origin = read_drafts(written({"id": "q", "draft": TEXT}))
    assert len(draft.sentences) == 3
    assert "".join(draft.sentences) == TEXT
    assert (origin.field, len(origin.sha256)) == ("draft", 64)


@given(st.lists(st.sampled_from([*"abcDE .!?\n\"'", "Dr. ", "1931"]), min_size=1).map("".join))
def test_no_letter_of_a_draft_is_lost(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("drafts") / "drafts.jsonl"
    path.write_text(json.dumps({"id": "q", "draft": f"A {text}"}))
    ((draft,), _) = read_drafts(path)
    assert "".join(draft.sentences) == f"A {text}"


def test_sentences_that_are_split_already_stay_as_they_are(written):
    sentences = ["He met Ann. And Bob.", " Then he left."]
    ((draft,), _) = read_drafts(written({"id": 7, "sentences": sentences}))
    assert draft == Draft("7", tuple(sentences))


def test_a_field_of_another_name_in_a_packed_file_of_questions(tmp_path):
    path = tmp_path / "questions.jsonl.gz"
    record = {"id": "q", "question": "Who?", "answers": ["Ann"], "thoughts": TEXT}
    path.write_bytes(gzip.compress(json.dumps(record).encode()))
    ((draft,), origin) = read_drafts(path, field="thoughts")
    assert "".join(draft.sentences) == TEXT
    assert origin.field == "thoughts"


def test_what_was_escaped_twice_is_read_as_what_it_stands_for(written):
    text = r"The film \"Caf\u00e9\" was made in 1931. \u00c1ngel made it. \ud83d\ude42 C:\temp"
    ((draft,), _) = read_drafts(written({"id": "q", "draft": text}))
    assert (
        "".join(draft.sentences) == 'The film "Café" was made in 1931. Ángel made it. 🙂 C:\\temp'
    )
    assert draft.sentences[1].strip() == "Ángel made it."


def test_concluding_sentences_are_not_queried(written):
    drafts, _ = read_drafts(
        written({"id": "a", "draft": TEXT}, {"id": "b", "draft": "So the answer is: yes."})
    )
    assert [each.judged for each in drafts] == [(0, 1), ()]


@pytest.mark.parametrize("record", [{"id": "q"}, {"id": "q", "draft": None}])
def test_a_missing_draft_names_the_option_and_the_fields(written, record):
    wrong = refused(written(record))
    assert wrong.field == "drafts.jsonl record 1, draft"
    assert "--draft-field" in wrong.description
    assert "id" in wrong.description


@pytest.mark.parametrize(
    ("draft", "field", "limit"),
    [
        ("", "draft", "must not be empty"),
        (" \n", "draft", "must not be empty"),
        (7, "draft", "must be text, not int"),
        ("\ud800", "draft", "surrogate"),
        ("word " * 300, "draft, sentence 1", "at most 256 words"),
        ("x" * 9000, "draft, sentence 1", "8,000 characters"),
        ("A word. " * 5000, "draft", "at most 32,000, not 40,000"),
    ],
)
def test_a_wrong_draft_names_record_and_limit(written, draft, field, limit):
    wrong = refused(written({"id": "p", "draft": "Good."}, {"id": "q", "draft": draft}))
    assert wrong.field == f"drafts.jsonl record 2, {field}"
    assert limit in wrong.description


def test_an_id_that_is_there_twice_is_refused(written):
    wrong = refused(written({"id": "q", "draft": "A."}, {"id": "q", "draft": "B."}))
    assert wrong.field == "drafts.jsonl record 2, id"


def test_a_missing_file_is_reported_with_its_option(tmp_path):
    assert refused(tmp_path / "none.jsonl").field == "--drafts"


def test_questions_without_drafts_and_drafts_without_questions_are_reported_together(written):
    drafts, _ = read_drafts(written({"id": "a", "draft": "A."}, {"id": "x", "draft": "X."}))
    with pytest.raises(InvalidRequest) as error:
        drafts_of(questions("a", "b", "c"), drafts, sampled=False)
    message = [(each.field, each.description) for each in error.value.violations]
    assert message == [
        ("--drafts", "has no draft of 'b', 'c' (2 of 3 questions)"),
        ("--drafts", "has drafts of no question: 'x' (1 of 2 drafts)"),
    ]


def test_drafts_of_other_questions_are_passed_over_where_some_are_drawn(written):
    drafts, _ = read_drafts(written({"id": "a", "draft": "A."}, {"id": "x", "draft": "X."}))
    assert list(drafts_of(questions("a"), drafts, sampled=True)) == ["a"]
