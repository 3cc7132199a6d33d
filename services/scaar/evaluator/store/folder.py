"""The results of an evaluation as a folder.

    first_pass/         the same files for the pass that placed the candidates of a grid, if any
    evaluation.json     settings and provenance (results.Evaluation)
    questions.jsonl     the questions, one per line
    predictions.jsonl   the predictions, one per line, appended as they are made

A folder belongs to an evaluation once it contains ``evaluation.json``.
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
class _Header:
    format: int


_HEADER = RecordJson(_Header)
_EVALUATION = RecordJson(Evaluation)
_QUESTION = RecordJson(Question)
_PREDICTION = RecordJson(Prediction)


class ResultsFolder:
    """A :class:`~scaar.evaluator.store.port.PredictionStore` in a locked folder."""

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
    """Open the folder of an evaluation to resume it; create the folder if it does not exist.

    Raises:
        InvalidRequest: the folder has another evaluation or other files, or another run is using
            it; the folder is unchanged.
        DataCorrupt: a file of the folder is corrupt.
    """
    check_folder(folder, evaluation.dataset, grid=_size(evaluation.grid))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    with locked(folder):
        if (folder / EVALUATION).exists():
            _require_the_same(folder, _read_evaluation(folder), evaluation)
        else:
            write_whole(folder / EVALUATION, _EVALUATION.document(evaluation))
        if not (folder / QUESTIONS).exists():
            write_whole(folder / QUESTIONS, b"".join(map(_QUESTION.line, questions)))
        with LineLog(folder / PREDICTIONS) as log:
            yield ResultsFolder(folder, log, read_results(folder))


def check_folder(folder: Path, origin: DatasetOrigin, *, grid: int | None) -> None:
    """Validate the output folder before any model call.

    Raises:
        InvalidRequest: the folder is a file, contains other files than an evaluation's, or has an
            evaluation with other questions or with a grid of another size.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidRequest.of("--out", f"{folder} is not a folder")
    if folder.is_dir() and not (folder / EVALUATION).exists():
        names = {each.name for each in folder.iterdir() if not each.name.endswith(WRITING)}
        if (folder / FIRST_PASS / EVALUATION).exists():
            names.remove(FIRST_PASS)
        if others := sorted(names):
            text = f"{folder} contains {others[0]} but no {EVALUATION}; name an empty or new folder"
            raise InvalidRequest.of("--out", text)
    elif folder.is_dir():
        stored = _read_evaluation(folder)
        _require_the_same(folder, stored, replace(stored, dataset=origin))
        size = _size(stored.grid)
        if size != grid:
            text = f"grid is {size or 'not set'} in the stored one and {grid or 'not set'} now"
            raise InvalidRequest.of("--out", f"{folder} contains another evaluation: {text}")


def read_results(folder: Path) -> Results:
    """Return the results in a folder, also while a run is writing to it.

    Of several predictions for one question and setting the last one counts.

    Raises:
        NotFound: the folder contains no evaluation.
        DataCorrupt: naming the corrupt file and line.
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
            text = f"{prediction.question_id!r} at {prediction.setting!r} is not in the plan"
            raise DataCorrupt(f"{PREDICTIONS} line {number}: {text}")
        found[key] = prediction
    return Results(evaluation, questions, tuple(found[key] for key in order if key in found))


def put_in_order(folder: Path) -> None:
    """Sort the predictions of a finished run into the order of the plan, one line each.

    Raises:
        InvalidRequest: a run is using the folder.
        ScaarError: the file cannot be written; the predictions are unchanged.
    """
    with locked(folder):
        lines = _in_lines(read_results(folder).predictions)
        if lines != whole_lines(folder / PREDICTIONS):
            write_whole(folder / PREDICTIONS, lines)


def _require_the_same(folder: Path, stored: Evaluation, requested: Evaluation) -> None:
    if other := differences(stored, requested):
        text = f"{folder} contains another evaluation: {'; '.join(other)}"
        raise InvalidRequest.of("--out", text)


def _size(grid: Grid | None) -> int | None:
    return None if grid is None else grid.size


def _in_lines(predictions: Iterable[Prediction]) -> bytes:
    return b"".join(map(_PREDICTION.line, predictions))


def _read_evaluation(folder: Path) -> Evaluation:
    path = folder / EVALUATION
    if not path.exists():
        raise NotFound(f"{folder} contains no evaluation: there is no {EVALUATION}")
    content = read_whole(path)
    if (found := _HEADER.read(content, str(path)).format) != FORMAT:
        raise DataCorrupt(f"{path} has format {found}; this version of scaar reads {FORMAT}")
    return _EVALUATION.read(content, str(path))
