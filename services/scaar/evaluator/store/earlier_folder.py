"""Results in the files of earlier versions.

evaluation.json     settings and provenance (results.Evaluation)
questions.jsonl     the questions, one per line
predictions.jsonl   the predictions, one per line, in the order in which they were made
"""

from dataclasses import dataclass
from pathlib import Path

from scaar.core.errors import DataCorrupt, NotFound
from scaar.evaluator.planning.work import Key, plan_work
from scaar.evaluator.records import Prediction, Question
from scaar.evaluator.results import FORMAT, Evaluation, Results
from scaar.evaluator.store.files import read_whole
from scaar.evaluator.store.folder import EARLIER
from scaar.evaluator.store.line_log import whole_lines
from scaar.evaluator.store.record_json import RecordJson

QUESTIONS, PREDICTIONS = "questions.jsonl", "predictions.jsonl"


@dataclass(frozen=True, slots=True)
class _Header:
    format: int


_HEADER = RecordJson(_Header)
_EVALUATION = RecordJson(Evaluation)
_QUESTION = RecordJson(Question)
_PREDICTION = RecordJson(Prediction)


def read_earlier(folder: Path) -> Results:
    """Return the results in the files of a folder.

    Of several predictions for one question and setting the last one counts.

    Raises:
        NotFound: the folder contains no evaluation.
        DataCorrupt: naming the corrupt file and line.
    """
    path = folder / EARLIER
    if not path.exists():
        raise NotFound(f"{folder} contains no evaluation: there is no {EARLIER}")
    content = read_whole(path)
    if (version := _HEADER.read(content, str(path)).format) != FORMAT:
        raise DataCorrupt(f"{path} has format {version}; this version of scaar reads {FORMAT}")
    evaluation = _EVALUATION.read(content, str(path))
    questions = tuple(_QUESTION.read_lines(read_whole(folder / QUESTIONS), QUESTIONS))
    order = [work.key for work in plan_work(evaluation.settings, questions)]
    planned, found = set(order), dict[Key, Prediction]()
    lines = _PREDICTION.read_lines(whole_lines(folder / PREDICTIONS), PREDICTIONS)
    for number, prediction in enumerate(lines, 1):
        key = prediction.setting, prediction.question_id
        if key not in planned:
            text = f"{prediction.question_id!r} at {prediction.setting!r} is not in the plan"
            raise DataCorrupt(f"{PREDICTIONS} line {number}: {text}")
        found[key] = prediction
    return Results(evaluation, questions, tuple(found[key] for key in order if key in found))
