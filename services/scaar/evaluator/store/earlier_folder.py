"""Results in the files of earlier versions.

evaluation.json     an evaluation: settings and provenance (results.Evaluation)
labelling.json      a labelling of the long tail: its settings
questions.jsonl     the questions, one per line
predictions.jsonl   the predictions, one per line, in the order in which they were made
<part>.jsonl        the records of a part of a study (store.studies.Part) in the same way
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from scaar.core.errors import DataCorrupt, NotFound
from scaar.evaluator.planning.work import Key, plan_work
from scaar.evaluator.records import Prediction, Question
from scaar.evaluator.results import FORMAT, Evaluation, Results
from scaar.evaluator.store.files import read_whole
from scaar.evaluator.store.folder import EARLIER
from scaar.evaluator.store.record_json import RecordJson
from scaar.evaluator.store.studies import StoredStudy, Study

QUESTIONS, PREDICTIONS = "questions.jsonl", "predictions.jsonl"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Header:
    format: int


_HEADER = RecordJson(_Header)
_EVALUATION = RecordJson(Evaluation)
_QUESTION = RecordJson(Question)
_PREDICTION = RecordJson(Prediction)


def earlier_command(folder: Path) -> str:
    """Return the command of ``scaar eval`` whose earlier version wrote the results of a folder.

    Raises:
        NotFound: the folder contains no results that can be read; names the readable kinds.
    """
    for command, name in EARLIER.items():
        if (folder / name).exists():
            return command
    kinds = ", ".join(f"{name} (scaar eval {command})" for command, name in EARLIER.items())
    raise NotFound(f"{folder} contains no results of an earlier version: there is none of {kinds}")


def read_earlier(folder: Path) -> Results:
    """Return the evaluation in the files of a folder.

    Of several predictions for one question and setting the last one counts.

    Raises:
        NotFound: a file of the evaluation does not exist.
        DataCorrupt: naming the corrupt file and line.
    """
    evaluation = _settings(folder / EARLIER["run"], _EVALUATION)
    questions = _questions(folder)
    order = [work.key for work in plan_work(evaluation.settings, questions)]
    planned, found = set(order), dict[Key, Prediction]()
    lines = _PREDICTION.read_lines(_whole_lines(folder / PREDICTIONS), PREDICTIONS)
    for number, prediction in enumerate(lines, 1):
        key = prediction.setting, prediction.question_id
        if key not in planned:
            text = f"{prediction.question_id!r} at {prediction.setting!r} is not in the plan"
            raise DataCorrupt(f"{PREDICTIONS} line {number}: {text}")
        found[key] = prediction
    return Results(evaluation, questions, tuple(found[key] for key in order if key in found))


def read_earlier_study(folder: Path, study: Study[_T]) -> StoredStudy[_T]:
    """Return the study in the files of a folder.

    Raises:
        NotFound: a file of the study does not exist.
        DataCorrupt: naming the corrupt file and line.
    """
    settings, questions = (
        _settings(folder / EARLIER[study.name], study.settings),
        _questions(folder),
    )
    places = {each.id: at for at, each in enumerate(questions)}
    found: dict[str, Mapping[int, str]] = {}
    for part in study.parts:
        name, texts = f"{part.name}.jsonl", dict[int, str]()
        lines = part.json.read_lines(_whole_lines(folder / name), name)
        for number, record in enumerate(lines, 1):
            if record.question_id not in places:
                text = f"{record.question_id!r} is not one of the questions"
                raise DataCorrupt(f"{name} line {number}: {text}")
            texts[places[record.question_id]] = part.json.line(record).decode()
        found[part.name] = texts
    return StoredStudy(settings, questions, found)


def _settings(path: Path, json: RecordJson[_T]) -> _T:
    content = read_whole(path)
    if (version := _HEADER.read(content, str(path)).format) != FORMAT:
        raise DataCorrupt(f"{path} has format {version}; this version of scaar reads {FORMAT}")
    return json.read(content, str(path))


def _questions(folder: Path) -> tuple[Question, ...]:
    return tuple(_QUESTION.read_lines(read_whole(folder / QUESTIONS), QUESTIONS))


def _whole_lines(path: Path) -> bytes:
    """The complete lines of a file; a process that was killed left an incomplete last one."""
    content = read_whole(path) if path.exists() else b""
    return content[: content.rfind(b"\n") + 1]
