"""The results of an evaluation as a folder.

    first_pass/         the same of the pass that placed a grid's candidates, where there was one
    evaluation.json     what was to be asked of whom (results.Evaluation)
    questions.jsonl     the questions, a line each
    predictions.jsonl   the predictions, a line each, appended when they are there

A folder is an evaluation's as soon as its ``evaluation.json`` is there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.evaluator.planning.work import Key, plan_work
from scaar.evaluator.records import Prediction, Question
from scaar.evaluator.results import FORMAT, DatasetOrigin, Evaluation, Grid, Results
from scaar.evaluator.store.differences import differences
from scaar.evaluator.store.files import WRITING, locked, read_whole, unwritable, write_whole
from scaar.evaluator.store.line_log import LineLog, whole_lines
from scaar.evaluator.store.record_json import RecordJson

EVALUATION, QUESTIONS, PREDICTIONS = "evaluation.json", "questions.jsonl", "predictions.jsonl"
FIRST_PASS = "first_pass"


@dataclass(frozen=True, slots=True)
class _Form:
    format: int


_FORM = RecordJson(_Form)
_EVALUATION = RecordJson(Evaluation)
_QUESTION = RecordJson(Question)
_PREDICTION = RecordJson(Prediction)


class ResultsFolder:
    """A :class:`~scaar.evaluator.store.port.PredictionStore` in a folder that is ours alone."""

    gather_s = 0.0

    def __init__(self, folder: Path, log: LineLog, results: Results) -> None:
        self._folder = folder
        self._log = log
        self._results = results
        self._known = {
            (each.setting, each.question_id): each.failure is not None
            for each in results.predictions
        }

    async def known(self) -> Mapping[Key, bool]:
        return self._known

    async def add(self, predictions: Sequence[Prediction]) -> None:
        self._log.append(_in_lines(predictions))
        for each in predictions:
            self._known[each.setting, each.question_id] = each.failure is not None


@contextmanager
def open_results(
    folder: Path, evaluation: Evaluation, questions: Sequence[Question]
) -> Iterator[ResultsFolder]:
    """The folder of that evaluation to be gone on with; made where there is none.

    Raises:
        InvalidRequest: it is another evaluation's or no evaluation's, or another run has it;
            nothing in it has been touched.
        DataCorrupt: what it holds does not hold together.
    """
    check_folder(folder, evaluation.dataset, grid=_size(evaluation.grid))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    with locked(folder):
        if (folder / EVALUATION).exists():
            there = _read_evaluation(folder)
            _require_the_same(folder, there, evaluation)
        else:
            write_whole(folder / EVALUATION, _EVALUATION.document(evaluation))
        if not (folder / QUESTIONS).exists():
            write_whole(folder / QUESTIONS, b"".join(map(_QUESTION.line, questions)))
        with LineLog(folder / PREDICTIONS) as log:
            yield ResultsFolder(folder, log, read_results(folder))


def check_folder(folder: Path, origin: DatasetOrigin, *, grid: int | None) -> None:
    """Passes a folder that results can go to, as far as can be told before a model is asked.

    Raises:
        InvalidRequest: it is a file, or holds what is no evaluation or is one of other questions
            or of a grid of another size.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidRequest.of("--out", f"{folder} is not a folder")
    if folder.is_dir() and not (folder / EVALUATION).exists():
        names = {each.name for each in folder.iterdir() if not each.name.endswith(WRITING)}
        if (folder / FIRST_PASS / EVALUATION).exists():
            names.remove(FIRST_PASS)
        if others := sorted(names):
            text = f"{folder} holds {others[0]} and no {EVALUATION}; name a folder of its own"
            raise InvalidRequest.of("--out", text)
    elif folder.is_dir():
        there = _read_evaluation(folder)
        _require_the_same(folder, there, replace(there, dataset=origin))
        laid = _size(there.grid)
        if laid != grid:
            told = f"grid is {laid or 'not laid'} there and {grid or 'not laid'} now"
            raise InvalidRequest.of("--out", f"{folder} holds another evaluation: {told}")


def read_results(folder: Path) -> Results:
    """What the folder holds, while a run goes on too; of a failed prediction, the last word.

    Raises:
        NotFound: there is no evaluation.
        DataCorrupt: naming the file and the line that does not hold together.
    """
    evaluation = _read_evaluation(folder)
    questions = tuple(_QUESTION.read_lines(read_whole(folder / QUESTIONS), QUESTIONS))
    order = [work.key for work in plan_work(evaluation.settings, questions)]
    found: dict[Key, Prediction] = {}
    lines = _PREDICTION.read_lines(whole_lines(folder / PREDICTIONS), PREDICTIONS)
    planned = set(order)
    for number, prediction in enumerate(lines, 1):
        key = prediction.setting, prediction.question_id
        if key not in planned:
            text = f"{prediction.question_id!r} under {prediction.setting!r} was never to be asked"
            raise DataCorrupt(f"{PREDICTIONS} line {number}: {text}")
        found[key] = prediction
    return Results(evaluation, questions, tuple(found[key] for key in order if key in found))


def put_in_order(folder: Path) -> None:
    """Brings the predictions to the order of the plan, one line each; for a run that is over.

    Raises:
        InvalidRequest: a run has the folder.
        ScaarError: there is no room; the predictions are as they were.
    """
    with locked(folder):
        lines = _in_lines(read_results(folder).predictions)
        if lines != whole_lines(folder / PREDICTIONS):
            write_whole(folder / PREDICTIONS, lines)


def _require_the_same(folder: Path, there: Evaluation, asked: Evaluation) -> None:
    if other := differences(there, asked):
        text = f"{folder} holds another evaluation: {'; '.join(other)}"
        raise InvalidRequest.of("--out", text)


def _size(grid: Grid | None) -> int | None:
    return None if grid is None else grid.size


def _in_lines(predictions: Iterable[Prediction]) -> bytes:
    return b"".join(map(_PREDICTION.line, predictions))


def _read_evaluation(folder: Path) -> Evaluation:
    path = folder / EVALUATION
    if not path.exists():
        raise NotFound(f"{folder} holds no evaluation: there is no {EVALUATION}")
    content = read_whole(path)
    if (form := _FORM.read(content, str(path)).format) != FORMAT:
        raise DataCorrupt(f"{path} is of format {form}; this scaar reads {FORMAT}")
    return _EVALUATION.read(content, str(path))
