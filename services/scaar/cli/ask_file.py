"""``scaar ask --file``: a file of questions answered, again and again until all of it is.

Every answer is a line appended to the answers' file when it is there, so that a run that was
killed goes on where it stopped.
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
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from scaar.cli.event_json import answer_record
from scaar.compose import open_answerer
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.ports import Answerer
from scaar.core.types import AnswerFinished, AnswerRequest
from scaar.core.validation import check_text, validate

# A line is JSON.
Json = Any
_LINE_START = b'{"id": '


@dataclass(frozen=True, slots=True)
class FileQuestion:
    """A question of the file; its id is the line's number where the line has none."""

    id: str
    question: str


def ask_file(
    template: AnswerRequest,
    questions: Path,
    answers: Path,
    *,
    concurrency: int,
    target: str,
    retry_failed: bool = False,
) -> int:
    """Asks what is not answered yet, as the template says; gives back how many have failed.

    A question that failed before is asked again with ``retry_failed``; of several lines of one
    question the last one counts.

    Raises:
        InvalidRequest: a line of either file is wrong; nothing has been asked.
    """
    asked = read_questions(questions, template)
    with _open_answers(answers) as file:
        known = _read_answers(file, answers, {each.id: each.question for each in asked})
        if retry_failed:
            known = {each: record for each, record in known.items() if "error" not in record}
        left = [each for each in asked if each.id not in known]
        failed = sum("error" in record for record in known.values())
        if left:
            asking = _Asking(template, file, concurrency)
            failed += asyncio.run(asking.run(left, target))
    before = f", {len(asked) - len(left)} of them before" if len(left) < len(asked) else ""
    Console(stderr=True, highlight=False).print(
        f"{len(asked)} questions{before}: {len(asked) - failed} answered, {failed} failed",
        soft_wrap=True,
    )
    return failed


def read_questions(path: Path, template: AnswerRequest) -> list[FileQuestion]:
    """The questions of a file of JSON lines, each one that can be asked as the template says.

    Raises:
        InvalidRequest: naming the first line that is wrong, and its field.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InvalidRequest.of("--file", f"{path} cannot be read: {error.strerror}") from error
    found: dict[str, FileQuestion] = {}
    for number, line in enumerate(lines, 1):
        where = f"{path.name} line {number}"
        record = _object(line, where)
        question = _text(record, "question", where)
        question_id = _text({"id": str(number), **record}, "id", where)
        if question_id in found:
            raise InvalidRequest.of(f"{where}, id", f"{question_id!r} is on an earlier line too")
        try:
            validate(replace(template, question=question))
        except InvalidRequest as error:
            first = error.violations[0]
            raise InvalidRequest.of(f"{where}, {first.field}", first.description) from error
        found[question_id] = FileQuestion(question_id, question)
    if not found:
        raise InvalidRequest.of("--file", f"{path} holds no question")
    return list(found.values())


class _Asking:
    """One run over the questions that are left."""

    def __init__(self, template: AnswerRequest, answers: BinaryIO, concurrency: int) -> None:
        self._template = template
        self._answers = answers
        self._concurrency = concurrency
        self._failed = 0

    async def run(self, questions: Sequence[FileQuestion], target: str) -> int:
        """Asks them, so many at a time; how many failed."""
        columns = (TextColumn("asking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        pending: set[asyncio.Task[dict[str, Json]]] = set()
        async with open_answerer(target) as answerer:
            with Progress(
                *columns, console=console, transient=True, disable=not console.is_terminal
            ) as progress:
                task = progress.add_task("asking", total=len(questions))
                waiting = iter(questions)
                try:
                    while True:
                        while len(pending) < self._concurrency and (each := next(waiting, None)):
                            pending.add(asyncio.create_task(self._ask(answerer, each)))
                        if not pending:
                            return self._failed
                        done, pending = await asyncio.wait(
                            pending, return_when=asyncio.FIRST_COMPLETED
                        )
                        for ended in done:
                            self._write(ended.result())
                            progress.advance(task)
                finally:
                    for left in pending:
                        left.cancel()
                    await asyncio.gather(*pending, return_exceptions=True)

    async def _ask(self, answerer: Answerer, question: FileQuestion) -> dict[str, Json]:
        head = {"id": question.id, "question": question.question}
        request = replace(self._template, question=question.question)
        try:
            async with aclosing(answerer.stream_answer(request)) as events:
                async for event in events:
                    if isinstance(event, AnswerFinished):
                        return {**head, **answer_record(event.answer)}
        except ScaarError as error:
            return {**head, "error": {"reason": error.reason, "message": error.message}}
        raise AssertionError("an answerer ends with AnswerFinished or raises")

    def _write(self, record: Mapping[str, Json]) -> None:
        self._failed += "error" in record
        self._answers.write(f"{json.dumps(record, ensure_ascii=False)}\n".encode())
        self._answers.flush()


@contextmanager
def _open_answers(path: Path) -> Iterator[BinaryIO]:
    """The file for reading and appending, ours alone; made if it is not there."""
    try:
        file = path.open("a+b")
    except OSError as error:
        raise InvalidRequest.of("--out", f"{path} cannot be written: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidRequest.of("--out", f"{path} is being written by another run") from None
        yield file


def _read_answers(
    file: BinaryIO, path: Path, asked: Mapping[str, str]
) -> dict[str, dict[str, Json]]:
    """The answers there are to these questions; a half-written last line is cut off."""
    file.seek(0)
    content = file.read()
    whole = content.rfind(b"\n") + 1
    found = {}
    for number, line in enumerate(content[:whole].splitlines(), 1):
        where = f"{path.name} line {number}"
        record = _object(line, where)
        if not isinstance(record.get("id"), str) or not ("answer" in record or "error" in record):
            raise InvalidRequest.of(where, "is not an answer of scaar ask --file")
        if record["id"] not in asked:
            continue
        if record.get("question") != asked[record["id"]]:
            raise InvalidRequest.of(f"{where}, id", f"{record['id']!r} is of another question")
        found[record["id"]] = record
    if half := content[whole:]:
        if not half.startswith(_LINE_START[: len(half)]):
            raise InvalidRequest.of("--out", f"{path} ends in what is no answer; name another file")
        file.truncate(whole)
    return found


def _text(record: Mapping[str, Json], field: str, where: str) -> str:
    value = record.get(field)
    if not isinstance(value, str):
        raise InvalidRequest.of(f"{where}, {field}", "must be a text")
    if wrong := check_text(field, value):
        raise InvalidRequest.of(f"{where}, {field}", wrong[0].description)
    return value


def _object(line: bytes, where: str) -> dict[str, Json]:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise InvalidRequest.of(where, "must be a JSON object")
    return record
