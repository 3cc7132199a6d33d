"""Collections in BEIR's and TREC's layouts are read, or rejected by file and field."""

import gzip
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.records import Question
from scaar.evaluator.studies.retrieval.beir import read_beir
from scaar.evaluator.studies.retrieval.topics import Topic, topics_of_questions
from scaar.evaluator.studies.retrieval.trec import qrels_lines, read_trec, run_lines

QUERIES = (
    '{"_id": "q1", "text": "high\\nvolcano", "metadata": {}}\n{"_id": "q2", "text": "river"}\n'
)
QRELS = "query-id\tcorpus-id\tscore\r\nq1\ta\t2\r\nq1\tb\t0\r\n"
TAGGED = """
<top>
<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations.
</top>
<top>
<num> Number: 302 </num>
<title>Topic: Poliomyelitis</title>
</top>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    (tmp_path / "qrels" / "test.tsv").write_bytes(QRELS.encode())
    return tmp_path


def test_a_folder_of_beir_has_judged_queries_and_counts_the_others(folder: Path) -> None:
    topics = read_beir(folder, "test")
    assert topics.judged == (Topic("q1", "high volcano", {"a": 2, "b": 0}),)
    assert topics.unjudged == 1


def test_packed_files_of_beir_are_read(folder: Path) -> None:
    plain = folder / "queries.jsonl"
    (folder / "queries.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert read_beir(folder, "test").judged[0].id == "q1"


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("queries.jsonl", '{"_id": "q1"}', "queries.jsonl record 1, text: is missing"),
        ("queries.jsonl", '{"text": "x"}', "queries.jsonl record 1, _id: is missing"),
        ("queries.jsonl", QUERIES + QUERIES, "queries.jsonl record 3, id: 'q1' is already the id"),
        ("queries.jsonl", '{"_id": "q2", "text": "x"}', "qrels: judges passages of the query 'q1'"),
        ("qrels/test.tsv", "q1\t0\ta\t1\n", "has no column query-id in its first line"),
        ("qrels/test.tsv", f"{QRELS}q1\tc\r\n", "test.tsv record 3: must be a row of 3 fields"),
        ("qrels/test.tsv", f"{QRELS}q1\tc\tx\n", "test.tsv record 3, score: must be a whole numb"),
        ("qrels/test.tsv", QRELS.split("\r\n")[0], "qrels: judges no passage of any query"),
    ],
)
def test_a_wrong_file_of_beir_is_reported(
    file: str, text: str, expected: str, folder: Path
) -> None:
    (folder / file).write_bytes(text.encode())
    with pytest.raises(InvalidRequest) as caught:
        read_beir(folder, "test")
    assert expected in caught.value.message


def test_another_split_or_folder_is_reported_with_the_missing_file(folder: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"qrels/dev\.tsv cannot be read"):
        read_beir(folder, "dev")
    with pytest.raises(InvalidRequest, match="is not a folder in BEIR's layout"):
        read_beir(folder / "queries.jsonl", "test")


def test_topics_of_trec_are_tagged_or_lines_with_a_tab(tmp_path: Path) -> None:
    topics, qrels = tmp_path / "topics.txt", tmp_path / "qrels.txt"
    qrels.write_text("301 0 FBIS3-1 1\n301 0 FBIS3-2 -2\n302 0 FT-1 2\n")
    expected = (
        Topic("301", "International Organized Crime", {"FBIS3-1": 1, "FBIS3-2": 0}),
        Topic("302", "Poliomyelitis", {"FT-1": 2}),
    )
    topics.write_text(TAGGED)
    assert read_trec(topics, qrels).judged == expected
    topics.write_text("301\tInternational Organized Crime\n\n302\tPoliomyelitis\n")
    assert read_trec(topics, qrels).judged == expected


@pytest.mark.parametrize(
    ("topics", "qrels", "expected"),
    [
        ("301 crime\n", "301 0 a 1\n", "topics.txt line 1: must be an id and a query, separated"),
        ("<top><num> 301 </top>", "301 0 a 1\n", "topics.txt topic 1, title: is missing"),
        ("301\tcrime\n", "301 a 1\n", "qrels.txt line 1: must be TOPIC 0 PASSAGE RELEVANCE, not 3"),
        ("301\tcrime\n", "301 0 a x\n", "qrels.txt line 1, relevance: must be a whole number"),
    ],
)
def test_a_wrong_file_of_trec_is_reported_with_its_line(
    topics: str, qrels: str, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "topics.txt").write_text(topics)
    (tmp_path / "qrels.txt").write_text(qrels)
    with pytest.raises(InvalidRequest) as caught:
        read_trec(tmp_path / "topics.txt", tmp_path / "qrels.txt")
    assert caught.value.message.startswith(expected)


def test_questions_with_supports_are_topics_too() -> None:
    questions = [
        Question("1", "Who?", ("Ann",), "1", supports=("a", "b")),
        Question("2", "Where?", ("Graz",), "2"),
    ]
    topics = topics_of_questions(questions)
    assert topics.judged == (Topic("1", "Who?", {"a": 1, "b": 1}),)
    assert topics.unjudged == 1
    with pytest.raises(InvalidRequest, match="needs questions that name the passages"):
        topics_of_questions(questions[1:])


def test_lines_of_runs_and_judgements_have_ids_without_white_space() -> None:
    assert list(run_lines("q 1", ["a", "b c"], "geo")) == [
        "q%201 Q0 a 1 1 geo\n",
        "q%201 Q0 b%20c 2 0.5 geo\n",
    ]
    assert list(qrels_lines("q1", ["a"])) == ["q1 0 a 1\n"]
