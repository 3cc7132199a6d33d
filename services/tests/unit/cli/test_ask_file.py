"""``scaar ask --file``: answers that do not fit or are by another policy, and invalid files."""

import dataclasses
import errno
import gzip
import json
import os
from pathlib import Path
from typing import Any, cast

import pytest

from scaar.cli.ask.file import FileQuestion, ask_file, read_questions
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.types import (
    DEFAULT_POLICY,
    AnswerForm,
    AnswerRequest,
    BudgetLimits,
    Filter,
    LearnedTrigger,
    LogprobKind,
    ModelDescription,
    OnFailure,
    PolicyOverrides,
    PolicyRequest,
)


class FullFile:
    """A file on a disk with room for a few bytes."""

    name = "answers.jsonl"

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, content: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = min(self.room, len(content))
        self.room -= written
        return written


async def test_a_full_disk_ends_the_run_with_path_and_need() -> None:
    from scaar.cli.ask.file import _AnswersFile

    store = _AnswersFile(cast(Any, FullFile(room=5)))
    record = {"id": "1", "error": {}}
    needed = len(json.dumps(record)) + 1
    with pytest.raises(ScaarError) as caught:
        await store.add([record])
    text = f"answers.jsonl cannot be written: its disk is full ({needed} B needed, "
    assert str(caught.value).startswith(text)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"question": "Who?"}\n')
    out = tmp_path / "missing" / "answers.jsonl"
    with pytest.raises(ScaarError, match="answers.jsonl cannot be written: No such file"):
        ask_file(AnswerRequest("?"), questions, out, concurrency=1, target="dns:///127.0.0.1:1")


MODEL = ModelDescription("m", "1", "fake", LogprobKind.RAW, frozenset(), 0, "")


def answered_by(policy: PolicyRequest) -> dict[str, Any]:
    """Return the line of an answer to the question of :func:`asked_again`."""
    in_effect = dataclasses.asdict(effective_policy(policy, MODEL))
    sources = dict(in_effect["sources"])
    return {
        "id": "1",
        "question": "Who?",
        "answer": "Ada",
        "policy": in_effect | {"sources": sources},
    }


def asked_again(
    folder: Path, line: dict[str, Any], policy: PolicyRequest = DEFAULT_POLICY, **more: Any
) -> None:
    """Ask the question with a file that has an answer, of a service that does not exist."""
    questions, out = folder / "questions.jsonl", folder / "answers.jsonl"
    questions.write_text('{"question": "Who?"}\n')
    content = json.dumps(line) + "\n"
    out.write_text(content)
    template = AnswerRequest("?", policy=policy, **more)
    failed = ask_file(template, questions, out, concurrency=1, target="dns:///127.0.0.1:1")
    assert (failed, out.read_text()) == (0, content)


SCAAR_BRIDGED = PolicyRequest("scaar", PolicyOverrides(query="bridged"))


@pytest.mark.parametrize(
    ("policy", "difference"),
    [
        (
            PolicyRequest("no_retrieval"),
            "policy is scaar in the stored answer and no_retrieval now",
        ),
        (
            PolicyRequest("scaar", PolicyOverrides(query="fused")),
            "query is bridged in the stored answer and fused now",
        ),
        (PolicyRequest("scaar"), "query is bridged in the stored answer and not set now"),
        (
            PolicyRequest("scaar", PolicyOverrides(query="bridged", top_k=5)),
            "top_k is 3 in the stored answer and 5 now",
        ),
    ],
)
def test_answers_by_another_policy_are_rejected(
    tmp_path: Path, policy: PolicyRequest, difference: str
) -> None:
    with pytest.raises(InvalidRequest) as rejected:
        asked_again(tmp_path, answered_by(SCAAR_BRIDGED), policy)
    text = f"answers.jsonl line 1: was answered by another policy: {difference}; name another file"
    assert str(rejected.value) == text


@pytest.mark.parametrize(
    "policy",
    [
        SCAAR_BRIDGED,
        # The default of a running orchestrator is not known.
        PolicyRequest("", PolicyOverrides(query="bridged")),
        PolicyRequest("scaar", PolicyOverrides(query="bridged", top_k=3)),
    ],
)
def test_answers_by_the_same_policy_are_kept(tmp_path: Path, policy: PolicyRequest) -> None:
    asked_again(tmp_path, answered_by(SCAAR_BRIDGED), policy)


@pytest.mark.parametrize(
    "line",
    [
        {"answer": "Ada"},
        {"answer": "Ada", "policy": {"name": "scaar", "query": {"formulation": "pfq"}}},
    ],
)
def test_answers_of_earlier_versions_are_kept(tmp_path: Path, line: dict[str, Any]) -> None:
    stored = {"id": "1", "question": "Who?", **line}
    asked_again(tmp_path, stored, PolicyRequest("scaar", PolicyOverrides(top_k=5)))


GERMAN = Filter("lang", ("en", "de"))
AS_STORED = [{"field": "lang", "values": ["de", "en"]}]
STORED = {"index": "handbook", "filters": AS_STORED, "on_failure": "fail", "answer_form": "short"}


@pytest.mark.parametrize(
    ("more", "difference"),
    [
        (
            {"index": "mine"},
            "index is handbook in the stored answer and mine now",
        ),
        ({"index": ""}, "index is handbook in the stored answer and not set now"),
        ({"filters": ()}, f"filters is {AS_STORED} in the stored answer and not set now"),
        (
            {"on_failure": OnFailure.ACCEPT_DRAFT},
            "on_failure is fail in the stored answer and accept_draft now",
        ),
        (
            {"answer": AnswerForm.TEXT},
            "answer_form is short in the stored answer and text now",
        ),
    ],
)
@pytest.mark.parametrize("outcome", [{"answer": "Ada"}, {"error": {"reason": "OVERLOADED"}}])
def test_answers_to_another_request_are_rejected(
    tmp_path: Path, outcome: dict[str, Any], more: dict[str, Any], difference: str
) -> None:
    line = {"id": "1", "question": "Who?", **STORED, **outcome}
    with pytest.raises(InvalidRequest) as rejected:
        asked_again(tmp_path, line, **{"index": "handbook", "filters": (GERMAN,), **more})
    text = f"line 1: has the answer to another request: {difference}; name another file"
    assert str(rejected.value).endswith(text)


def test_answers_to_the_same_request_are_kept(tmp_path: Path) -> None:
    stored = {"id": "1", "question": "Who?", **STORED, "answer": "Ada"}
    budget = BudgetLimits(timeout_s=9.0)
    asked_again(tmp_path, stored, index="handbook", filters=(GERMAN,), budget=budget)


def test_a_stored_answer_has_its_request(tmp_path: Path) -> None:
    questions, out = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    questions.write_text('{"question": "Who?"}\n')
    template = AnswerRequest("?", index="handbook", filters=(GERMAN,))
    assert ask_file(template, questions, out, concurrency=1, target="dns:///127.0.0.1:1") == 1
    stored = json.loads(out.read_text())
    assert {name: stored[name] for name in STORED} == STORED


def test_a_learned_trigger_with_other_parameters_is_another_policy(tmp_path: Path) -> None:
    first, second = (
        LearnedTrigger(("surprisal_max",), (0.0,), (1.0,), (1.0,), 0.0, "wrong", digest=each)
        for each in ("aa", "bb")
    )
    learned = PolicyRequest("scaar", PolicyOverrides(trigger="learned"), first)
    line = answered_by(learned)
    asked_again(tmp_path, line, learned)
    with pytest.raises(InvalidRequest, match="digest of the learned trigger is aa"):
        asked_again(tmp_path, line, dataclasses.replace(learned, learned=second))


@pytest.mark.parametrize("line", ["nonsense", "[" * 100_000])
def test_a_line_that_is_not_json_is_rejected(tmp_path: Path, line: str) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text(f'{{"question": "Who?"}}\n{line}\n')
    with pytest.raises(InvalidRequest) as rejected:
        read_questions(questions, AnswerRequest("?"))
    assert str(rejected.value) == "questions.jsonl line 2: must be a JSON object"


def test_a_file_of_questions_may_have_blank_lines_and_be_compressed(tmp_path: Path) -> None:
    content = '\ufeff{"question": "Who?\u2028"}\r\n\n  \n{"question": "When?"}\n'.encode()
    plain, packed = tmp_path / "questions.jsonl", tmp_path / "questions.jsonl.gz"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    for path in plain, packed:
        found = read_questions(path, AnswerRequest("?"))
        assert found == [FileQuestion("1", "Who?\u2028"), FileQuestion("4", "When?")]


def test_a_file_of_questions_can_be_a_pipe(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b'{"question": "Who?"}\n')
    os.close(writing)
    try:
        found = read_questions(Path(f"/dev/fd/{reading}"), AnswerRequest("?"))
    finally:
        os.close(reading)
    assert found == [FileQuestion("1", "Who?")]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"question": "Où?"}\n'.encode("latin-1"), "is not UTF-8 at byte 15"),
        (gzip.compress(b'{"question": "Who?"}\n', mtime=0)[:-9], "the gzip file is damaged"),
        (b"\n\n", "contains no questions"),
    ],
)
def test_a_file_that_cannot_be_read_as_questions_is_named(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_bytes(content)
    with pytest.raises(InvalidRequest) as rejected:
        read_questions(questions, AnswerRequest("?"))
    assert str(rejected.value).startswith(f"--file: {questions}")
    assert problem in str(rejected.value)
