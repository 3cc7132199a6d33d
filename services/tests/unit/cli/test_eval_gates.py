"""``scaar eval gates`` end to end, on made questions and a word encoder."""

import csv
import json

import pytest

from scaar.testing.commands import run_scaar
from scaar.testing.word_encoder import write_word_encoder
from tests.unit.evaluator.gates.made import sample_questions

pytestmark = pytest.mark.slow


def write(path, questions):
    """Write questions as a data set whose records have both answers."""
    records = [
        {
            "id": each.question.id,
            "question": each.question.question,
            "answers": ["Ann"],
            "lm_no_retrieval": "Bob" if each.wrong else "Ann",
            "lm_one_retrieval": "Ann" if each.retrieved["f1"] else "Bob",
            "lm_cot_no_retrieval": each.thoughts,
        }
        for each in questions
    ]
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return path


@pytest.fixture
def ran(tmp_path):
    file = write(tmp_path / "questions.jsonl", sample_questions(130))
    encoder = write_word_encoder(
        tmp_path / "words", [each.question.question for each in sample_questions(130)]
    )
    found = run_scaar(
        *("eval", "gates", f"jsonl:{file}", "--answers", "lm", "--repeats", "1"),
        *("--encoder", str(encoder), "--out", str(tmp_path / "out")),
    )
    assert found.status == 0, found.err
    return found


def test_gates_are_compared_in_tables(ran, tmp_path):
    assert ran.out.splitlines()[0].startswith("| gate, and its target | All sets, cross-validated")
    report = (tmp_path / "out/report.md").read_text()
    assert "| skr | benefit | votes of the nearest labelled questions" in report
    assert "| gece_proxy | log-probabilities of a drafted sentence |" in report
    with (tmp_path / "out/tables/pooled_f1.csv").open() as file:
        rows = {row["gate"]: row for row in csv.DictReader(file)}
    assert list(rows)[:4] == ["never", "always", "random", "oracle"]
    half = {name: float(row["f1@0.5"]) for name, row in rows.items()}
    # The kind of a question is one of its words, and the words decide.
    assert half["sentence_vector:benefit"] > half["random"] + 0.1
    assert half["oracle"] >= half["sentence_vector:benefit"]
    document = json.loads((tmp_path / "out/report.json").read_text())
    assert "tables/auroc.csv" in document["files"]
