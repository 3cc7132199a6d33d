"""``scaar ask --file`` on the lab's models: answers, refused input, and resuming after a kill."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scaar.testing.commands import Ran, run_scaar

FAILURE, USAGE = 1, 2


def questions_in(folder: Path, count: int) -> Path:
    path = folder / "questions.jsonl"
    path.write_text(run_scaar("lab", "questions", "--count", str(count)).out)
    return path


def ask(questions: Path, out: Path, *options: str) -> Ran:
    return run_scaar("ask", "--file", str(questions), "--out", str(out), *options)


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def last_line(ran: Ran) -> str:
    """The line at the end of the messages; lines of progress stand before it on a slow machine."""
    return ran.err.splitlines()[-1]


@pytest.mark.long
def test_a_killed_run_resumes_where_it_stopped(lab_home: Path, tmp_path: Path) -> None:
    questions, out = questions_in(tmp_path, 60), tmp_path / "answers.jsonl"
    command = [sys.executable, "-m", "scaar.cli", "ask", "--file", str(questions)]
    variables = {"PYTHONPATH": os.pathsep.join(sys.path), "SCAAR_HOME": str(lab_home)}
    with subprocess.Popen(
        [*command, "--out", str(out), "--concurrency", "2"],
        stderr=subprocess.PIPE,
        env={**os.environ, **variables},
    ) as process:
        ends = time.monotonic() + 60
        while not (out.exists() and out.read_bytes().count(b"\n") >= 3):
            assert process.poll() is None
            assert time.monotonic() < ends
            time.sleep(0.002)
        process.kill()
    killed = out.read_bytes()
    whole = killed[: killed.rfind(b"\n") + 1]
    before = whole.count(b"\n")
    assert 3 <= before < 60
    out.write_bytes(whole + b'{"id": "half')
    ran = ask(questions, out)
    message = f"60 questions, {before} in earlier runs: 60 answered, 0 failed"
    assert (ran.status, ran.out, last_line(ran)) == (0, "", message)
    assert out.read_bytes().startswith(whole)
    records = lines(out)
    assert len(records) == 60
    assert {each["id"] for each in records} == {each["id"] for each in lines(questions)}
    for record in records:
        assert {"question", "answer", "text", "retrievals", "llm_calls", "end"} < set(record)
    again = ask(questions, out)
    assert again.err == "60 questions, 60 in earlier runs: 60 answered, 0 failed\n"
    assert len(lines(out)) == 60


def test_a_failed_question_has_a_line_and_the_status_is_1(tmp_path: Path) -> None:
    questions, out = questions_in(tmp_path, 2), tmp_path / "answers.jsonl"
    ran = ask(questions, out, "--timeout", "0.0001")
    assert (ran.status, ran.err) == (FAILURE, "2 questions: 0 answered, 2 failed\n")
    for record in lines(out):
        fields = ["id", "question", "index", "filters", "on_failure", "answer_form", "error"]
        assert list(record) == fields
        assert record["error"]["reason"] == "DEADLINE_EXCEEDED"  # type: ignore[index]


def test_failed_questions_are_retried_on_request(tmp_path: Path) -> None:
    questions, out = questions_in(tmp_path, 2), tmp_path / "answers.jsonl"
    ask(questions, out, "--timeout", "0.0001")
    left = ask(questions, out)
    assert (left.status, left.err) == (
        FAILURE,
        "2 questions, 2 in earlier runs: 0 answered, 2 failed\n",
    )
    again = ask(questions, out, "--retry-failed")
    assert (again.status, again.err) == (0, "2 questions: 2 answered, 0 failed\n")
    assert ["error" in record for record in lines(out)] == [True, True, False, False]
    assert ask(questions, out).status == 0


def test_an_unreachable_service_is_an_error_of_every_question(tmp_path: Path) -> None:
    questions, out = questions_in(tmp_path, 2), tmp_path / "answers.jsonl"
    ran = ask(questions, out, "--address", "dns:///127.0.0.1:1")
    assert ran.status == FAILURE
    reasons = [record["error"]["reason"] for record in lines(out)]  # type: ignore[index]
    assert reasons == ["BACKEND_UNAVAILABLE"] * 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "--file: "),
        ("nonsense", "q.jsonl line 1: must be a JSON object"),
        ('{"id": "a"}', "q.jsonl line 1, question: must be a string"),
        ('{"question": ""}', "q.jsonl line 1, question: must not be empty"),
        ('{"id": 1, "question": "Who?"}', "q.jsonl line 1, id: must be a string"),
        (
            '{"question": "Who?"}\n{"id": "1", "question": "Who?"}',
            "q.jsonl line 2, id: '1' appears on an earlier line",
        ),
    ],
)
def test_an_invalid_line_is_refused_before_any_work(
    tmp_path: Path, content: str, message: str
) -> None:
    questions, out = tmp_path / "q.jsonl", tmp_path / "answers.jsonl"
    questions.write_text(content)
    ran = ask(questions, out)
    assert ran.status == USAGE
    assert ran.err.startswith(f"scaar: {message}")
    assert not out.exists()


@pytest.mark.parametrize("content", ["notes", "notes\n", '{"id": "1", "question": "Who?"}\n'])
def test_a_file_without_answers_is_left_as_it_is(tmp_path: Path, content: str) -> None:
    questions, out = questions_in(tmp_path, 1), tmp_path / "answers.jsonl"
    out.write_text(content)
    assert ask(questions, out).status == USAGE
    assert out.read_text() == content
