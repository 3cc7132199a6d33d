"""The results of a comparison of query formulations as a folder.

queries.json     the settings of the run (records.QueryEvaluation)
questions.jsonl  the questions with their supports
retrievals.jsonl      the retrievals, one line per question, appended as they are made
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.differences import changed
from scaar.evaluator.store.files import WRITING, locked, read_whole, unwritable, write_whole
from scaar.evaluator.store.line_log import LineLog, whole_lines
from scaar.evaluator.store.record_json import RecordJson
from scaar.evaluator.studies.queries.drafts import DraftOrigin
from scaar.evaluator.studies.queries.records import (
    FORMAT,
    QueryEvaluation,
    QuestionRetrievals,
    Retrieval,
)

EVALUATION, QUESTIONS, RETRIEVALS = "queries.json", "questions.jsonl", "retrievals.jsonl"
_NO_DIFFERENCE = ("created", "dataset.path", "drafts.path")

_EVALUATION = RecordJson(QueryEvaluation)
_QUESTION = RecordJson(Question)
_RETRIEVALS = RecordJson(QuestionRetrievals)


@dataclass(frozen=True, slots=True)
class QueryResults:
    """A run with its questions and the retrievals made so far, in order."""

    evaluation: QueryEvaluation
    questions: tuple[Question, ...]
    records: tuple[QuestionRetrievals, ...]

    @property
    def refused(self) -> tuple[tuple[str, Retrieval], ...]:
        """The retrievals that a scorer refused, with the id of the question."""
        return tuple(
            (each.question_id, one)
            for each in self.records
            for some in each.retrievals.values()
            for one in some
            if one.refused
        )


class QueryFolder:
    """The locked folder of a run; ``known`` are the ids of the questions with retrievals."""

    def __init__(self, log: LineLog, known: Sequence[str]) -> None:
        self.known = frozenset(known)
        self._log = log

    def add(self, record: QuestionRetrievals) -> None:
        """Store the retrievals of a question.

        Raises:
            ScaarError: they cannot be stored; earlier ones are stored.
        """
        self._log.append(_RETRIEVALS.line(record))


@contextmanager
def open_queries(
    folder: Path, evaluation: QueryEvaluation, questions: Sequence[Question]
) -> Iterator[QueryFolder]:
    """Open the folder of a run to resume it; create it if missing, and sort it at the end.

    Raises:
        InvalidRequest: the folder has another run or other files; it is unchanged.
        DataCorrupt: a file of the folder is corrupt.
    """
    check_query_folder(folder, evaluation.dataset, evaluation.drafts)
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
        with LineLog(folder / RETRIEVALS) as log:
            before = read_queries(folder)
            yield QueryFolder(log, [each.question_id for each in before.records])
        lines = b"".join(map(_RETRIEVALS.line, read_queries(folder).records))
        if lines != whole_lines(folder / RETRIEVALS):
            write_whole(folder / RETRIEVALS, lines)


def check_query_folder(folder: Path, dataset: DatasetOrigin, drafts: DraftOrigin) -> None:
    """Validate the output folder before any other service is called.

    Raises:
        InvalidRequest: the folder is a file, or contains other files or a run over other drafts.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidRequest.of("--out", f"{folder} is not a folder")
    if not folder.is_dir():
        return
    if (folder / EVALUATION).exists():
        stored = _read_evaluation(folder)
        _require_the_same(folder, stored, replace(stored, dataset=dataset, drafts=drafts))
    elif others := sorted(x.name for x in folder.iterdir() if not x.name.endswith(WRITING)):
        text = f"{folder} contains {others[0]} but no {EVALUATION}; name an empty or new folder"
        raise InvalidRequest.of("--out", text)


def read_queries(folder: Path) -> QueryResults:
    """Return the results in a folder, also while a run is writing to it.

    Raises:
        NotFound: the folder contains no run.
        DataCorrupt: naming the corrupt file and line.
    """
    evaluation = _read_evaluation(folder)
    questions = tuple(_QUESTION.read_lines(read_whole(folder / QUESTIONS), QUESTIONS))
    order = {each.id: at for at, each in enumerate(questions)}
    found: dict[str, QuestionRetrievals] = {}
    for number, record in enumerate(
        _RETRIEVALS.read_lines(whole_lines(folder / RETRIEVALS), RETRIEVALS), 1
    ):
        if record.question_id not in order or record.question_id in found:
            text = f"{record.question_id!r} is not one of the questions, or occurs twice"
            raise DataCorrupt(f"{RETRIEVALS} line {number}: {text}")
        found[record.question_id] = record
    return QueryResults(
        evaluation, questions, tuple(found[each.id] for each in questions if each.id in found)
    )


def _require_the_same(folder: Path, stored: QueryEvaluation, requested: QueryEvaluation) -> None:
    before, now = _EVALUATION.plain(stored), _EVALUATION.plain(requested)
    if other := changed(before, now, ignored=_NO_DIFFERENCE):
        raise InvalidRequest.of("--out", f"{folder} contains another run: {'; '.join(other)}")


def _read_evaluation(folder: Path) -> QueryEvaluation:
    path = folder / EVALUATION
    if not path.exists():
        raise NotFound(f"{folder} contains no run over drafts: there is no {EVALUATION}")
    evaluation = _EVALUATION.read(read_whole(path), str(path))
    if evaluation.format != FORMAT:
        raise DataCorrupt(
            f"{path} has format {evaluation.format}; this version of scaar reads {FORMAT}"
        )
    return evaluation
