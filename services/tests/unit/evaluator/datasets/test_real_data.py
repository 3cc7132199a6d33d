"""Every real file with a question set is read whole, and those without are refused."""

import gzip
import json
import re
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.measures import MEASURES
from scaar.core.measures.normalisation import normalised
from scaar.core.types import AnswerRequest, PolicyRequest
from scaar.core.validation import validate
from scaar.evaluator.datasets.corpora import open_passages
from scaar.evaluator.datasets.loader import TOO_LONG, open_dataset

pytestmark = pytest.mark.real_data

NAMED = {"nq": "nq", "hotpotqa": "hotpotqa", "2wikimultihopqa": "2wikimultihopqa"} | {
    name: name for name in ("strategyqa", "triviaqa", "popqa", "mmlu")
}
FILES = [
    ("2wikimultihopqa", "2wikimultihopqa/2wiki_dev_qa.dev.jsonl"),
    ("2wikimultihopqa", "2wikimultihopqa/2wikimultihopqa_1000.dev.jsonl"),
    ("hotpotqa", "hotpotqa/hotpotqa_1000.dev.jsonl"),
    ("hotpotqa", "hotpotqa/hotpotqa_500.dev.jsonl"),
    ("hotpotqa", "hotpotqa/hotpotqa_dev_qa.dev.jsonl"),
    ("hotpotqa", "hotpotqa/hotpotqa_distractor_hf100.dev.jsonl"),
    ("hotpotqa", "hotpotqa/hotpotqa_distractor_train300.dev.jsonl"),
    ("mmlu", "mmlu/mmlu_fewshot_dev.jsonl"),
    ("mmlu", "mmlu/mmlu_test_20each.dev.jsonl"),
    ("mmlu", "mmlu/mmlu_val.dev.jsonl"),
    ("nq", "nq/nq_gold_2655.dev.jsonl"),
    ("nq", "nq/nq_open_dev.dev.jsonl"),
    ("popqa", "popqa/popqa_first1000.dev.jsonl"),
    ("popqa", "popqa/popqa_longtail2000.dev.jsonl"),
    ("strategyqa", "strategyqa/strategyqa_train.dev.jsonl"),
    ("triviaqa", "triviaqa/triviaqa_dpr_dev.dev.jsonl"),
]
NOT_QUESTIONS = {
    "2wikimultihopqa/2wiki_101_retrieval.dev.jsonl": "evidences: is missing",
    "hotpotqa/hotpotqa_500.bm25okapi_reference.dev.jsonl": "question: is missing",
}


def test_every_file_of_questions_is_tested(real_data: Path) -> None:
    there = {
        str(path.relative_to(real_data))
        for pattern in ("*/*.dev.jsonl", "mmlu/*.jsonl")
        for path in real_data.glob(pattern)
    }
    assert there == {file for _, file in FILES} | set(NOT_QUESTIONS)


@pytest.mark.parametrize(("name", "file"), FILES, ids=[file for _, file in FILES])
def test_a_real_file_is_read_whole_with_the_checksum_of_its_page(
    name: str, file: str, real_data: Path
) -> None:
    listed = re.search(
        rf"^\| `{re.escape(file)}` \| (\d+) \| \d+ \| `([0-9a-f]{{64}})` \|$",
        (real_data / "README.md").read_text(),
        re.MULTILINE,
    )
    digest = listed[2] if listed else ""
    dataset = open_dataset(name, real_data / file, sha256=digest)
    with (real_data / file).open() as lines:
        records = sum(1 for _ in lines)
    assert len(dataset.questions) + sum(dataset.left_out.values()) == records
    assert set(dataset.left_out) <= {TOO_LONG}
    assert sum(dataset.left_out.values()) <= 2
    if listed:
        assert records == int(listed[1])
    for question in dataset.questions:
        validate(AnswerRequest(question.question, PolicyRequest("no_retrieval")))


@pytest.mark.parametrize(("name", "file"), FILES, ids=[file for _, file in FILES])
def test_a_true_answer_of_a_real_question_scores_1(name: str, file: str, real_data: Path) -> None:
    dataset = open_dataset(name, real_data / file)
    main = MEASURES[dataset.kind.measures[0]]
    missed = [
        question.id
        for question in dataset.questions
        for text in (f"So the answer is {question.answers[0]}.",)
        if main(dataset.kind.extract(text, question), question.answers) != 1.0
    ]
    # A few answers cannot be distinguished from the text around them: one that is a sign alone.
    assert len(missed) <= len(dataset.questions) / 500, missed


@pytest.mark.parametrize(("file", "message"), NOT_QUESTIONS.items(), ids=NOT_QUESTIONS)
def test_a_real_file_without_questions_and_answers_is_refused(
    file: str, message: str, real_data: Path
) -> None:
    with pytest.raises(InvalidRequest, match=f"record 1, {message}"):
        open_dataset(NAMED[file.split("/")[0]], real_data / file)


@pytest.mark.parametrize("file", ["hotpotqa_distractor_train300", "hotpotqa_distractor_hf100"])
def test_the_contexts_of_real_questions_are_pooled(file: str, real_data: Path) -> None:
    path = real_data / "hotpotqa" / f"{file}.dev.jsonl"
    ids = {passage.id for passage in open_passages("hotpotqa", path)}
    assert len(ids) > 300
    for question in open_dataset("hotpotqa", path).questions:
        assert set(question.supports) <= ids


def test_the_supports_of_real_questions_are_passages_of_their_corpus(real_data: Path) -> None:
    questions = open_dataset("hotpotqa", real_data / "hotpotqa/hotpotqa_500.dev.jsonl").questions
    with gzip.open(real_data / "hotpotqa/hotpotqa_500.corpus.jsonl.gz", "rt") as lines:
        ids = {json.loads(line)["id"] for line in lines}
    assert all(set(question.supports) <= ids for question in questions)


@pytest.mark.parametrize("name", ["hotpotqa", "2wikimultihopqa"])
def test_the_answers_of_real_chains_of_thought_are_those_that_their_source_found(
    name: str, real_data: Path
) -> None:
    path = real_data / name / f"{name}_1000.dev.jsonl"
    with path.open() as lines:
        written = {record["id"]: record for record in map(json.loads, lines)}
    dataset = open_dataset(name, path)
    differing = []
    for question in dataset.questions:
        record = written[question.id]
        chain, found = record["llama3_8b_cot_no_retrieval"], record["llama3_8b_no_retrieval"]
        ours = dataset.kind.extract(chain, question)
        if normalised(ours) != normalised(dataset.kind.extract(found, question)):
            differing.append((chain, found, ours))
    # Not one chain in a hundred ends without the answer phrase.
    assert len(differing) <= len(dataset.questions) / 100, differing
