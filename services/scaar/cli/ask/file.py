"""``scaar ask --file``: answer a file of questions; an interrupted run resumes where it stopped.

Each answer is appended to the file of answers as soon as it is complete.
"""

import asyncio
import fcntl
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from rich.console import Console

from scaar.cli.ask.event_json import answer_record
from scaar.cli.eval.progress import EvaluationProgress
from scaar.cli.notes import print_notes
from scaar.compose import EMBEDDED, open_answerer
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.plurals import counted
from scaar.core.types import (
    AnswerFinished,
    AnswerRequest,
    PolicyArtefact,
    PolicyRequest,
    SettingSource,
)
from scaar.core.validation import check_text, validate
from scaar.evaluator.datasets.reader import text_of
from scaar.evaluator.execution.items import QuestionLimiter, evaluate_items
from scaar.runtime.disk import write_problem

# A line is JSON.
Json = Any
_LINE_START = b'{"id": '


@dataclass(frozen=True, slots=True)
class FileQuestion:
    """A question of the file; its id defaults to the line number."""

    id: str
    question: str


def ask_file(
    template: AnswerRequest,
    questions: Path,
    answers: Path,
    *,
    concurrency: int,
    target: str,
    artefacts: Sequence[PolicyArtefact] = (),
    retry_failed: bool = False,
) -> int:
    """Ask the questions that have no answer yet, and return the number of failed questions.

    ``retry_failed`` asks questions again that failed before. When a question has several answers,
    the last one counts. ``artefacts`` are tuned policies of an embedded loop.

    Raises:
        InvalidRequest: a line of either file is invalid, or has an answer by another policy or
            to another request; no question has been asked.
    """
    requests = read_questions(questions, template, remote=target != EMBEDDED)
    with _open_answers(answers) as file:
        texts = {each.id: each.question for each in requests}
        known = _read_answers(file, answers, texts, template)
        if retry_failed:
            known = {each: record for each, record in known.items() if "error" not in record}
        remaining = [each for each in requests if each.id not in known]
        failed = sum("error" in record for record in known.values())
        if remaining:
            store = _AnswersFile(file)
            asked = _answer(
                *(template, remaining, store),
                concurrency=concurrency,
                target=target,
                artefacts=artefacts,
            )
            asyncio.run(asked)
            failed += store.failed
    earlier = len(requests) - len(remaining)
    before = f", {earlier} in earlier runs" if earlier else ""
    print_notes(
        f"{counted(len(requests), 'question')}{before}: {len(requests) - failed} answered, "
        f"{failed} failed"
    )
    return failed


def read_questions(
    path: Path, template: AnswerRequest, *, remote: bool = False
) -> list[FileQuestion]:
    """Read a file of questions as JSON lines, each validated with the options of the template.

    The file may be compressed with gzip. Blank lines are ignored.

    Raises:
        InvalidRequest: names the first invalid line and its field.
    """
    found: dict[str, FileQuestion] = {}
    # Not splitlines: a JSON string may contain U+2028 and other line separators.
    for number, line in enumerate(text_of(path, field="--file").split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path.name} line {number}"
        record = _object(line, where)
        question = _text(record, "question", where)
        question_id = _text({"id": str(number), **record}, "id", where)
        if question_id in found:
            raise InvalidRequest.of(f"{where}, id", f"{question_id!r} appears on an earlier line")
        try:
            validate(replace(template, question=question), remote=remote)
        except InvalidRequest as error:
            first = error.violations[0]
            raise InvalidRequest.of(f"{where}, {first.field}", first.description) from error
        found[question_id] = FileQuestion(question_id, question)
    if not found:
        raise InvalidRequest.of("--file", f"{path} contains no questions")
    return list(found.values())


async def _answer(
    template: AnswerRequest,
    questions: Sequence[FileQuestion],
    answers: "_AnswersFile",
    *,
    concurrency: int,
    target: str,
    artefacts: Sequence[PolicyArtefact],
) -> None:
    """Ask the questions, and store their answers."""
    progress = EvaluationProgress(Console(stderr=True, highlight=False), what="questions")
    progress.name = "answering"
    async with open_answerer(target, artefacts=artefacts) as answerer:

        async def ask(question: FileQuestion) -> dict[str, Json]:
            head = {"id": question.id, "question": question.question, **_requested(template)}
            request = replace(template, question=question.question, omit_drafted_tokens=True)
            try:
                async with aclosing(answerer.stream_answer(request)) as events:
                    async for event in events:
                        if isinstance(event, AnswerFinished):
                            return {**head, **answer_record(event.answer)}
            except ScaarError as error:
                return {**head, "error": {"reason": error.reason, "message": error.message}}
            raise AssertionError("an answerer ends with AnswerFinished or raises")

        with progress.watch(len(questions), 0) as on_stored:
            await evaluate_items(
                *(questions, ask, answers),
                limiter=QuestionLimiter(concurrency),
                on_stored=on_stored,
            )


class _AnswersFile:
    """A :class:`~scaar.evaluator.execution.items.RecordStore` that appends lines to a file."""

    gather_s = 0.0

    def __init__(self, file: BinaryIO) -> None:
        self.failed = 0
        self._file = file

    async def add(self, records: Sequence[Mapping[str, Json]], /) -> None:
        """Append a line for each record.

        Raises:
            ScaarError: a line does not fit on the disk, or cannot be written.
        """
        for record in records:
            line = f"{json.dumps(record, ensure_ascii=False)}\n".encode()
            remaining = memoryview(line)
            try:
                while remaining:
                    remaining = remaining[self._file.write(remaining) :]
            except OSError as error:
                path = Path(str(self._file.name))
                raise ScaarError(write_problem(path, error, needed_bytes=len(line))) from error
            self.failed += "error" in record


@contextmanager
def _open_answers(path: Path) -> Iterator[BinaryIO]:
    """Open the file for reading and appending, create it if needed, and lock it.

    It is not buffered, so that a full disk is an error of the answer that does not fit.
    """
    try:
        file = path.open("a+b", buffering=0)
    except OSError as error:
        raise InvalidRequest.of("--out", write_problem(path, error)) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidRequest.of("--out", f"{path} is in use by another run") from None
        yield file


def _read_answers(
    file: BinaryIO, path: Path, questions: Mapping[str, str], template: AnswerRequest
) -> dict[str, dict[str, Json]]:
    """Read the answers to these questions; an incomplete last line is removed.

    Raises:
        InvalidRequest: a line is not an answer, or is one to another question, by another policy or
            to another request.
    """
    file.seek(0)
    content = file.read()
    whole = content.rfind(b"\n") + 1
    found = {}
    for number, line in enumerate(content[:whole].splitlines(), 1):
        where = f"{path.name} line {number}"
        record = _object(line, where)
        if not isinstance(record.get("id"), str) or not ("answer" in record or "error" in record):
            raise InvalidRequest.of(
                where, "is not an answer of scaar ask --file; name another file"
            )
        if different := _policy_differences(record.get("policy"), template.policy):
            text = f"was answered by another policy: {'; '.join(different)}; name another file"
            raise InvalidRequest.of(where, text)
        if different := _request_differences(record, template):
            text = f"has the answer to another request: {'; '.join(different)}; name another file"
            raise InvalidRequest.of(where, text)
        if record["id"] not in questions:
            continue
        if record.get("question") != questions[record["id"]]:
            raise InvalidRequest.of(
                f"{where}, id", f"{record['id']!r} belongs to another question; name another file"
            )
        found[record["id"]] = record
    if half := content[whole:]:
        if not half.startswith(_LINE_START[: len(half)]):
            raise InvalidRequest.of(
                "--out", f"{path} ends with a line that is not an answer; name another file"
            )
        file.truncate(whole)
    return found


def _requested(template: AnswerRequest) -> dict[str, Json]:
    """Return what an answer depends on besides its policy; a time limit only makes answers fail."""
    filters = sorted((each.field, sorted(each.values)) for each in template.filters)
    return {
        "index": template.index,
        "filters": [{"field": field, "values": values} for field, values in filters],
        "on_failure": template.on_failure,
        "answer_form": template.answer,
    }


def _request_differences(stored: Mapping[str, Json], template: AnswerRequest) -> list[str]:
    """Return how the request of a stored answer differs. Earlier versions stored no request."""
    return [
        _difference(name, stored[name] or None, value or None)
        for name, value in _requested(template).items()
        if name in stored and stored[name] != value
    ]


def _policy_differences(stored: Json, requested: PolicyRequest) -> list[str]:
    """Return how the policy of a stored answer contradicts the requested one.

    Settings that neither request gave are the model's or the defaults, and are not compared.
    """
    if not isinstance(stored, dict) or not isinstance(query := stored.get("query"), dict):
        return []
    if requested.label and requested.label != stored.get("name"):
        return [_difference("policy", stored.get("name"), requested.label)]
    values = {**stored, **query, "query": query.get("formulation")}
    given = requested.overrides.given()
    different = [
        _difference(name, values[name], value)
        for name, value in given.items()
        if name in values and values[name] != value
    ]
    # Without the artefact, in a running orchestrator, its settings are not known here.
    chosen = {SettingSource.REQUEST} | ({SettingSource.ARTEFACT} if requested.artefact else set())
    sources = stored.get("sources")
    different += [
        _difference(name, values.get(name), None)
        for name, source in (sources.items() if isinstance(sources, dict) else ())
        if source in chosen and name not in given
    ]
    learned, before = requested.learned, stored.get("learned")
    if learned and isinstance(before, dict) and before.get("digest") != learned.digest:
        different.append(
            _difference("digest of the learned trigger", before.get("digest"), learned.digest)
        )
    return different


def _difference(name: str, stored: Json, requested: Json) -> str:
    before, now = ("not set" if each is None else each for each in (stored, requested))
    return f"{name} is {before} in the stored answer and {now} now"


def _text(record: Mapping[str, Json], field: str, where: str) -> str:
    value = record.get(field)
    if not isinstance(value, str):
        raise InvalidRequest.of(f"{where}, {field}", "must be a string")
    if wrong := check_text(field, value):
        raise InvalidRequest.of(f"{where}, {field}", wrong[0].description)
    return value


def _object(line: str | bytes, where: str) -> dict[str, Json]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise InvalidRequest.of(where, "must be a JSON object")
    return record
