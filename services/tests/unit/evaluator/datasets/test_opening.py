"""What is no data set is refused by file, record and field, before anything is asked."""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets import KINDS, kind_of
from scaar.evaluator.datasets.loader import PUBLISHED, TOO_LONG, open_dataset

FIXTURES = Path(__file__).parent / "fixtures"
OF_A_FILE = {
    "2wikimultihopqa": "2wikimultihopqa.json",
    "hotpotqa": "hotpotqa.json",
    "iirc": "iirc.json",
    "strategyqa": "strategyqa.json",
    "nq": "nq.jsonl",
    "triviaqa": "triviaqa.json",
    "popqa": "popqa.tsv",
    "mmlu": "mmlu.jsonl",
    "musique": "musique.jsonl",
    "bamboogle": "bamboogle.csv",
    "retrievalqa": "retrievalqa.jsonl",
    "flashrag": "flashrag.jsonl",
    "jsonl": "jsonl.jsonl",
}
every_file = pytest.mark.parametrize(("name", "file"), OF_A_FILE.items(), ids=OF_A_FILE)

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str, name: str = "questions.jsonl") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def refused(name: str, path: Path | None, **options: object) -> str:
    with pytest.raises(InvalidRequest) as error:
        open_dataset(name, path, **options)  # type: ignore[arg-type]
    return error.value.message


def test_every_data_set_of_a_file_has_a_fixture() -> None:
    assert set(OF_A_FILE) == {name for name, kind in KINDS.items() if kind.of_a_file}


def test_an_unknown_data_set_is_refused_with_the_known_ones() -> None:
    assert refused("squad", None).startswith(
        "dataset: there is no data set 'squad'; known: 2wikimultihopqa, hotpotqa, iirc"
    )


@every_file
def test_an_empty_file_is_reported(name: str, file: str, write: Write) -> None:
    path = write(" \n", f"empty{Path(file).suffix}")  # type: ignore[call-arg]
    assert str(path) in (expected := refused(name, path))
    assert "is empty" in expected or "contains no question" in expected


@every_file
def test_a_missing_file_is_reported(name: str, file: str, tmp_path: Path) -> None:
    assert refused(name, tmp_path / file).endswith("cannot be read: No such file or directory")


@pytest.mark.parametrize("given", OF_A_FILE, ids=OF_A_FILE)
@pytest.mark.parametrize("read_as", OF_A_FILE, ids=OF_A_FILE)
def test_a_file_of_one_data_set_is_not_taken_for_another(given: str, read_as: str) -> None:
    # The plain layout is taken by the sets whose samples are passed on in it.
    plain = {"2wikimultihopqa", "hotpotqa", "nq", "triviaqa"}
    if given == read_as or (given == "jsonl" and read_as in plain):
        assert open_dataset(read_as, FIXTURES / OF_A_FILE[given]).questions
        return
    expected = refused(read_as, FIXTURES / OF_A_FILE[given])
    assert OF_A_FILE[given] in expected
    assert len(expected) < 600


def test_a_2wiki_file_given_as_strategyqa_is_reported_for_what_it_is() -> None:
    assert refused("strategyqa", FIXTURES / "2wikimultihopqa.json") == (
        "2wikimultihopqa.json record 1, qid: is missing; the record's fields: _id, type, question, "
        "answer, answer_id, supporting_facts, evidences, evidences_id, entity_ids, context. The "
        "file has the layout of 2wikimultihopqa. The layout of strategyqa is "
        '{"qid", "term", "question", "answer": true or false}'
    )


def test_an_id_that_comes_twice_is_reported_with_both_records(write: Write) -> None:
    record = json.dumps({"id": "a", "question": "Who?", "answers": ["Ann"]})
    other = json.dumps({"id": "b", "question": "Who?", "answers": ["Ann"]})
    path = write(f"{record}\n\n{other}\n{record}\n")
    assert refused("jsonl", path) == (
        "questions.jsonl record 3, id: 'a' is already the id of questions.jsonl record 1"
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"answers": []}, "answers: must have at least one string that is not empty"),
        ({"answers": [" ", "\t"]}, "answers: must have at least one string that is not empty"),
        ({"answers": "Ann"}, "answers: must be a list, not 'Ann'"),
        ({"answers": [1]}, "answers: must be a list of strings, not of 1"),
        ({"question": None}, "question: is missing; the record's fields: id, question, answers"),
        ({"question": " \u200b"}, "question: must not be empty"),
        ({"question": 7}, "question: must be a string, not 7"),
        ({"id": True}, "id: must be a string, not True"),
        ({"id": ""}, "id: must not be empty"),
        ({"labels": "kind"}, "labels: must be an object, not 'kind'"),
        ({"labels": {"kind": []}}, "labels, kind: must be a string, not []"),
        ({"choices": ["one"]}, "choices: must be 2 to 26 distinct strings that are not empty"),
        (
            {"choices": ["one", "one"]},
            "choices: must be 2 to 26 distinct strings that are not empty",
        ),
        ({"choices": ["x", "y"]}, "answers: must be letters or texts of the choices, not 'Ann'"),
    ],
)
def test_a_wrong_field_is_named_with_what_was_expected(
    change: dict[str, object], expected: str, write: Write
) -> None:
    record = {"id": "a", "question": "Who?", "answers": ["Ann"], **change}
    assert refused("jsonl", write(json.dumps(record))).startswith(
        f"questions.jsonl record 1, {expected}"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1]", "questions.jsonl record 1: must be a JSON object, not int"),
        ("7", "questions.jsonl record 1: must be a JSON object, not int"),
        ('{"id"\n{"id": 1}', "questions.jsonl line 1: is not JSON: Expecting ':' delimiter at 5"),
        ('[{"id": 1},\n{"id"]', "questions.jsonl line 2: is not JSON: Expecting ':' delimiter at"),
        ("[]", "questions.jsonl contains no question of jsonl"),
        (
            json.dumps({"id": "a", "question": "long " * 501, "answers": ["b"]}),
            "no question of jsonl; 1 left out: longer than 8,000 characters or 500 words",
        ),
        ("[" * 100_000, "questions.jsonl is not JSON of records"),
    ],
)
def test_a_file_without_records_is_reported(text: str, expected: str, write: Write) -> None:
    assert expected in refused("jsonl", write(text))


def test_bytes_that_are_not_utf8_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'{"id": "\xff"}')
    assert refused("jsonl", path) == f"path: {path} is not UTF-8 at byte 8"
    path.write_bytes(b"\x1f\x8b\x08\x00 broken")
    assert "the gzip file is damaged" in refused("jsonl", path)


def test_triviaqas_test_file_is_reported_to_have_no_answers(write: Write) -> None:
    path = write(json.dumps({"Data": [{"QuestionId": "x", "Question": "Who?"}]}))
    assert "Answer: is missing: the test files have no answers" in refused("triviaqa", path)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("q,a,b,c,d", "record 1: must be question, A, B, C, D, answer: 6 fields, not 5"),
        ("q,a,b,c,d,E", "record 1, answer: must be one of A, B, C, D, not 'E'"),
        ("q,a,,c,d,A", "record 1, B: must not be empty"),
        ('"q,a,b,c,d,A', "line 1: is not valid CSV: unexpected end of data"),
    ],
)
def test_a_wrong_row_of_mmlu_is_named(row: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "anatomy_test.csv").write_text(f"{row}\n")
    assert refused("mmlu", tmp_path).startswith(f"anatomy_test.csv {expected}")


def test_a_folder_without_tables_is_reported(tmp_path: Path) -> None:
    assert "has no CSV file" in refused("mmlu", tmp_path)
    assert refused("hotpotqa", tmp_path) == f"path: {tmp_path} cannot be read: Is a directory"


def test_popqas_rows_have_every_column_and_lists_as_json(tmp_path: Path) -> None:
    lines = (FIXTURES / "popqa.tsv").read_text().splitlines()
    path = tmp_path / "popqa.tsv"
    path.write_text(f"{lines[0]}\n{lines[1]}\textra\n")
    assert refused("popqa", path).startswith("popqa.tsv record 1: must be a row of 17 fields")
    path.write_text(f"{lines[0]}\n" + lines[1].replace('"[""Ostermoor""', '"(""Ostermoor""'))
    assert "possible_answers: must be a JSON list of strings" in refused("popqa", path)


def test_the_file_must_have_the_checksum_that_is_expected() -> None:
    path = FIXTURES / "nq.jsonl"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert open_dataset("nq", path, sha256=digest.upper()).sha256 == digest
    assert refused("nq", path, sha256="0" * 64) == f"sha256: {path} has {digest}, not {'0' * 64}"
    assert "is of a file" in refused("mmlu", FIXTURES / "mmlu", sha256=digest)


def test_a_published_file_is_known_by_its_checksum_only() -> None:
    assert open_dataset("nq", FIXTURES / "nq.jsonl").published_as == ""
    assert all(len(digest) == 64 for digest in PUBLISHED)


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("nq", {}, 'path: must name the file of nq: {"question", "answer": [...]}'),
        ("nq", {"seed": 1}, "seed: is not taken by the data set nq"),
        ("hotpotqa", {"aliases": Path("a")}, "aliases: is not taken by the data set hotpotqa"),
        ("lab", {"path": Path("a")}, "path: is not taken by the data set lab"),
        ("lab", {"seed": -1}, "seed: must be 0 to 2,147,483,648, not -1"),
        ("lab", {"count": 0}, "count: must be at least 1, not 0"),
        ("lab", {"count": 10**9}, "count: must be 0 to"),
    ],
)
def test_an_option_that_is_not_a_data_sets_is_refused(
    name: str, options: dict[str, object], expected: str
) -> None:
    path = options.pop("path", FIXTURES / "nq.jsonl" if name != "lab" and options else None)
    assert expected in refused(name, path, **options)  # type: ignore[arg-type]


def test_a_question_above_the_limit_is_left_out_and_counted(write: Write) -> None:
    long = {"id": "a", "question": "who " * 501, "answers": ["Ann"]}
    short = {"id": "b", "question": "who " * 500, "answers": ["Ann"]}
    dataset = open_dataset("jsonl", write(f"{json.dumps(long)}\n{json.dumps(short)}"))
    assert [question.id for question in dataset.questions] == ["b"]
    assert dataset.left_out == {TOO_LONG: 1}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
FIELDS = sorted(
    {"id", "answers", "labels", "supports", "choices", "questions", "Data", "examples", "s_pop"}
    | {"input", "target_scores", "inputs", "targets", "title", "text"}
    | {field for kind in KINDS.values() for field in kind.marks}
)


@given(
    name=st.sampled_from(sorted(OF_A_FILE)),
    records=st.lists(st.dictionaries(st.sampled_from(FIELDS), json_values), min_size=1, max_size=3),
)
def test_whatever_json_a_file_holds_it_is_read_or_refused(
    name: str, records: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(records))
    with suppress(InvalidRequest):
        questions = open_dataset(name, path).questions
        assert questions
        assert all(question.answers for question in questions)


def test_every_kind_says_what_suits_it() -> None:
    for name, kind in KINDS.items():
        assert kind_of(name) is kind
        assert kind.name == name
        assert kind.max_tokens > 0
    # The generation lengths of SCAAR and DRAGIN.
    assert [kind_of(name).max_tokens for name in ("2wikimultihopqa", "hotpotqa", "iirc")] == [
        *(64, 100, 128)
    ]
    assert kind_of("strategyqa").max_tokens == 100
