"""The results of an evaluation as a folder with the database ``evaluations.sqlite``.

The folder is read without the libraries of the database, also while a process writes to it.
"""

import errno
import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound, ScaarError
from scaar.evaluator.records import Prediction, Question
from scaar.evaluator.results import Evaluation, Results
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.store.differences import differences, spec_differences
from scaar.evaluator.store.files import WRITING, locked, make_folder, unwritable
from scaar.evaluator.store.record_json import RecordJson

DATABASE = "evaluations.sqlite"
TUNE = "tune"
"""The study of ``scaar tune``; other studies are commands of ``scaar eval``."""
EARLIER = {"run": "evaluation.json", "longtail": "labelling.json"}
"""The file in the folders of earlier versions by command; ``scaar eval import`` reads them."""
_SPEC = RecordJson(EvaluationSpec)
_EVALUATION = RecordJson(Evaluation)
_QUESTION = RecordJson(Question)
_PREDICTION = RecordJson(Prediction)


@dataclass(frozen=True, slots=True)
class FolderEvaluation:
    """The evaluation of a folder: its row in the database, and what it runs.

    ``evaluation`` is None until the evaluation has started.
    """

    number: int
    id: str
    spec: EvaluationSpec
    evaluation: Evaluation | None


def read_results(folder: Path) -> Results:
    """Return the results in a folder, also while a run is writing to it.

    Raises:
        NotFound: the folder contains no evaluation, or one that has not started.
        InvalidRequest: the folder contains several evaluations.
        DataCorrupt: naming what is corrupt.
    """
    with snapshot(folder) as connection:
        command = f"scaar eval report ID --target embedded:{folder}"
        advice = f"name a folder with one, or read one by its id: {command}"
        found = _found(connection, folder, field="DIR", advice=advice)
        if found is None:
            raise NotFound(f"{folder} contains no evaluation: {DATABASE} has none")
        if found.evaluation is None:
            raise NotFound(f"{folder} has no predictions yet: its evaluation has not started")
        questions, predictions = (
            connection.execute(query, (found.number,)).fetchall()
            for query in (
                "SELECT record FROM questions WHERE evaluation = ? ORDER BY position",
                "SELECT record FROM predictions WHERE evaluation = ? AND settled "
                "ORDER BY question, setting",
            )
        )
    return Results(
        found.evaluation,
        tuple(_QUESTION.read(text.encode(), f"a question of {folder}") for (text,) in questions),
        tuple(
            _PREDICTION.read(text.encode(), f"a prediction of {folder}") for (text,) in predictions
        ),
    )


def find_evaluation(folder: Path) -> FolderEvaluation | None:
    """Return the evaluation of an output folder; None if it has none.

    Raises:
        InvalidRequest: the folder contains several evaluations.
        DataCorrupt: the database is corrupt.
    """
    if not (folder / DATABASE).exists():
        return None
    with snapshot(folder) as connection:
        return _found(connection, folder, field="--out", advice="name an empty or new folder")


def check_folder(folder: Path, spec: EvaluationSpec) -> None:
    """Validate the output folder before any model call.

    Raises:
        InvalidRequest: the folder is a file, contains other files than an evaluation's, or has an
            evaluation with other questions or with a grid of another size.
    """
    check_is_folder(folder, "run")
    if (stored := find_evaluation(folder)) is None:
        return
    size, requested = stored.spec.theta_candidates, spec.theta_candidates
    if other := spec_differences(stored.spec, replace(stored.spec, dataset=spec.dataset)):
        raise another_evaluation(folder, other)
    if size != requested:
        text = f"grid is {size or 'not set'} in the stored one and {requested or 'not set'} now"
        raise another_evaluation(folder, [text])


def check_same(
    folder: Path, stored: FolderEvaluation, spec: EvaluationSpec, requested: Evaluation
) -> None:
    """Check that a request is for the evaluation of its folder.

    Raises:
        InvalidRequest: naming the differences.
    """
    if stored.evaluation is None:
        other = spec_differences(stored.spec, spec)
    else:
        other = differences(stored.evaluation, requested)
    if other:
        raise another_evaluation(folder, other)


def another_evaluation(folder: Path, differing: Collection[str]) -> InvalidRequest:
    """Return the error of a folder that contains another evaluation."""
    return InvalidRequest.of(
        "--out", f"{folder} contains another evaluation: {'; '.join(differing)}"
    )


def check_is_folder(folder: Path, command: str, *, field: str = "--out") -> None:
    """Check that a command can write its results to a folder: its own, an empty or a new one.

    ``command`` is ``run`` or the name of a study; ``field`` names the folder in errors.

    Raises:
        InvalidRequest: it is a file, has other files and no database, or has the results of another
            command.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidRequest.of(field, f"{folder} is not a folder")
    if not folder.is_dir():
        return
    if (folder / DATABASE).exists():
        with snapshot(folder) as connection:
            others = [each for each in _commands(connection) if each != command]
        if others:
            name = others[0] if others[0] == TUNE else f"eval {others[0]}"
            text = f"{folder} contains results of scaar {name}; name another folder"
            raise InvalidRequest.of(field, text)
        return
    if _is_earlier(folder):
        text = f"{folder} contains results of an earlier version: read them with scaar eval import"
        raise InvalidRequest.of(field, text)
    others = sorted(each.name for each in folder.iterdir() if not each.name.endswith(WRITING))
    if others:
        text = f"{folder} contains {others[0]} but no {DATABASE}; name an empty or new folder"
        raise InvalidRequest.of(field, text)


@contextmanager
def held(folder: Path, *, field: str = "--out") -> Iterator[str]:
    """Hold a folder for this process, create it if it does not exist, and give its database's URL.

    Raises:
        InvalidRequest: another process holds the folder.
        ScaarError: the folder cannot be created.
    """
    make_folder(folder)
    with locked(folder, field=field):
        yield database_url(folder)


def unwritable_database(
    folder: Path, error: ScaarError, *, needed_bytes: int | None = None
) -> ScaarError:
    """Return the error of a folder whose database refused a write of ``needed_bytes``."""
    path, cause = folder / DATABASE, error.__cause__
    reason = str(getattr(cause, "orig", cause))
    if "disk is full" in reason:
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return unwritable(path, full, needed_bytes=needed_bytes)
    return ScaarError(f"{path} cannot be written: {reason}")


def database_url(folder: Path) -> str:
    """Return the URL of the database of a folder."""
    return f"sqlite:///{folder.absolute() / DATABASE}"


def tables_of(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the names of the tables of a database; none if its creator was killed."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return frozenset(name for (name,) in names)


@contextmanager
def snapshot(folder: Path, what: str = "evaluation") -> Iterator[sqlite3.Connection]:
    """A snapshot of the database of a folder.

    Raises:
        NotFound: there is no database; the message says that the folder contains no ``what``.
        DataCorrupt: the database cannot be read.
    """
    path = folder / DATABASE
    if not path.exists():
        text = f"{folder} contains no {what}: there is no {DATABASE}"
        if _is_earlier(folder):
            text = f"{folder} contains results of an earlier version: read them with"
            text = f"{text} scaar eval import"
        raise NotFound(text)
    # The last reader of a writable database removes the files that SQLite creates beside it.
    mode = "mode=rw" if os.access(folder, os.W_OK) else "immutable=1"
    try:
        with closing(
            sqlite3.connect(
                f"file:{quote(str(path.absolute()))}?{mode}", uri=True, isolation_level=None
            )
        ) as connection:
            connection.execute("BEGIN")
            yield connection
    except sqlite3.Error as error:
        raise DataCorrupt(f"{path} cannot be read: {error}") from error


def _commands(connection: sqlite3.Connection) -> Iterator[str]:
    """The commands that the database has results of."""
    tables = tables_of(connection)
    if "evaluations" in tables and connection.execute("SELECT 1 FROM evaluations").fetchone():
        yield "run"
    if "studies" in tables:
        yield from (name for (name,) in connection.execute("SELECT name FROM studies").fetchall())


def _is_earlier(folder: Path) -> bool:
    return any((folder / name).exists() for name in EARLIER.values())


def _found(
    connection: sqlite3.Connection, folder: Path, *, field: str, advice: str
) -> FolderEvaluation | None:
    if "evaluations" not in tables_of(connection):
        # The process that created the database was killed.
        return None
    rows = connection.execute(
        "SELECT number, id, specification, evaluation FROM evaluations WHERE parent IS NULL"
    ).fetchall()
    if len(rows) > 1:
        raise InvalidRequest.of(field, f"{folder} contains {len(rows)} evaluations; {advice}")
    for number, evaluation_id, spec, evaluation in rows:
        where = f"the evaluation of {folder}"
        return FolderEvaluation(
            *(number, evaluation_id, _SPEC.read(spec.encode(), where)),
            None if evaluation is None else _EVALUATION.read(evaluation.encode(), where),
        )
    return None
