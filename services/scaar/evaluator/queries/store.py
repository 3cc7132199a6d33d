"""The results of a run over drafts as a folder.

queries.json     what the run is set to (records.QueryEvaluation)
questions.jsonl  the questions with their supports
asked.jsonl      a line a question, appended when it is there
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.evaluator.queries.drafts import DraftOrigin
from scaar.evaluator.queries.records import FORMAT, Asked, QueryEvaluation, Retrieval
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.differences import changed
from scaar.evaluator.store.files import WRITING, locked, read_whole, unwritable, write_whole
from scaar.evaluator.store.line_log import LineLog, whole_lines
from scaar.evaluator.store.record_json import RecordJson

EVALUATION, QUESTIONS, ASKED = "queries.json", "questions.jsonl", "asked.jsonl"
_NO_DIFFERENCE = ("created", "dataset.path", "drafts.path")

_EVALUATION = RecordJson(QueryEvaluation)
_QUESTION = RecordJson(Question)
_ASKED = RecordJson(Asked)


@dataclass(frozen=True, slots=True)
class QueryResults:
    """A run with its questions, and what was asked for them so far, in their order."""

    evaluation: QueryEvaluation
    questions: tuple[Question, ...]
    asked: tuple[Asked, ...]

    @property
    def refused(self) -> tuple[tuple[str, Retrieval], ...]:
        """What a scorer did not take, once for every formulation, with the question's id."""
        return tuple(
            (each.question_id, one)
            for each in self.asked
            for some in each.retrievals.values()
            for one in some
            if one.refused
        )


class QueryFolder:
    """The folder of a run, ours alone; ``known`` are the ids of the questions that were asked."""

    def __init__(self, log: LineLog, known: Sequence[str]) -> None:
        self.known = frozenset(known)
        self._log = log

    def add(self, asked: Asked) -> None:
        """Keeps it for good.

        Raises:
            ScaarError: it cannot be kept; those before it are.
        """
        self._log.append(_ASKED.line(asked))


@contextmanager
def open_queries(
    folder: Path, evaluation: QueryEvaluation, questions: Sequence[Question]
) -> Iterator[QueryFolder]:
    """The folder of that run to be gone on with; made where there is none, in order at its end.

    Raises:
        InvalidRequest: it is another run's, or somebody else's; nothing in it has been touched.
        DataCorrupt: what it holds does not hold together.
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
        with LineLog(folder / ASKED) as log:
            before = read_queries(folder)
            yield QueryFolder(log, [each.question_id for each in before.asked])
        lines = b"".join(map(_ASKED.line, read_queries(folder).asked))
        if lines != whole_lines(folder / ASKED):
            write_whole(folder / ASKED, lines)


def check_query_folder(folder: Path, dataset: DatasetOrigin, drafts: DraftOrigin) -> None:
    """Passes a folder that results can go to, as far as can be told before anybody is asked.

    Raises:
        InvalidRequest: it is a file, or holds something else, or a run over other drafts.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidRequest.of("--out", f"{folder} is not a folder")
    if not folder.is_dir():
        return
    if (folder / EVALUATION).exists():
        there = _read_evaluation(folder)
        _require_the_same(folder, there, replace(there, dataset=dataset, drafts=drafts))
    elif others := sorted(x.name for x in folder.iterdir() if not x.name.endswith(WRITING)):
        text = f"{folder} holds {others[0]} and no {EVALUATION}; name a folder of its own"
        raise InvalidRequest.of("--out", text)


def read_queries(folder: Path) -> QueryResults:
    """What the folder holds, while a run goes on too.

    Raises:
        NotFound: there is no run.
        DataCorrupt: naming the file and the line that does not hold together.
    """
    evaluation = _read_evaluation(folder)
    questions = tuple(_QUESTION.read_lines(read_whole(folder / QUESTIONS), QUESTIONS))
    order = {each.id: at for at, each in enumerate(questions)}
    found: dict[str, Asked] = {}
    for number, asked in enumerate(_ASKED.read_lines(whole_lines(folder / ASKED), ASKED), 1):
        if asked.question_id not in order or asked.question_id in found:
            text = f"{asked.question_id!r} was never to be asked, or is there twice"
            raise DataCorrupt(f"{ASKED} line {number}: {text}")
        found[asked.question_id] = asked
    return QueryResults(
        evaluation, questions, tuple(found[each.id] for each in questions if each.id in found)
    )


def _require_the_same(folder: Path, there: QueryEvaluation, asked: QueryEvaluation) -> None:
    before, now = _EVALUATION.plain(there), _EVALUATION.plain(asked)
    if other := changed(before, now, but=_NO_DIFFERENCE):
        raise InvalidRequest.of("--out", f"{folder} holds another run: {'; '.join(other)}")


def _read_evaluation(folder: Path) -> QueryEvaluation:
    path = folder / EVALUATION
    if not path.exists():
        raise NotFound(f"{folder} holds no run over drafts: there is no {EVALUATION}")
    evaluation = _EVALUATION.read(read_whole(path), str(path))
    if evaluation.format != FORMAT:
        raise DataCorrupt(f"{path} is of format {evaluation.format}; this scaar reads {FORMAT}")
    return evaluation
