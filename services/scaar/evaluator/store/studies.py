"""Studies in the database of a folder: settings, questions, and records of each question.

The folder is read without the libraries of the database, also while a process writes to it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.evaluator.records import Question
from scaar.evaluator.store.differences import changed
from scaar.evaluator.store.folder import check_is_folder, snapshot, tables_of
from scaar.evaluator.store.record_json import RecordJson

QUESTIONS = "questions"
"""The part that has the questions themselves."""
QUESTION = RecordJson(Question)


class StudyRecord(Protocol):
    """What a study finds for one question."""

    @property
    def question_id(self) -> str:
        """The id of the question."""
        ...


S = TypeVar("S")
R = TypeVar("R", bound=StudyRecord)


@dataclass(frozen=True, slots=True)
class Part(Generic[R]):
    """A kind of record, of which a question has at most one."""

    name: str
    json: RecordJson[R]


@dataclass(frozen=True, slots=True)
class Study(Generic[S]):
    """A kind of study, by the name of its command.

    ``what`` names a study in errors, and ``field`` its folder. A study with other settings is
    another one, except for the fields ``may_differ``; ``resumed`` returns the settings of a resumed
    study from the stored and the requested ones.
    """

    name: str
    what: str
    settings: RecordJson[S]
    parts: tuple[Part[Any], ...]
    may_differ: tuple[str, ...] = ("created", "dataset.path")
    resumed: Callable[[S, S], S] = lambda stored, _: stored
    field: str = "--out"


@dataclass(frozen=True, slots=True)
class StoredStudy(Generic[S]):
    """A stored study, with its records by part and position as JSON."""

    settings: S
    questions: tuple[Question, ...]
    found: Mapping[str, Mapping[int, str]]

    def records(self, part: Part[R]) -> dict[str, R]:
        """Return the records of a part by the id of their question, in the order of the questions.

        Raises:
            DataCorrupt: a record is corrupt.
        """
        return {
            self.questions[at].id: part.json.read(text.encode(), f"a record of {part.name}")
            for at, text in sorted(self.found.get(part.name, {}).items())
        }


def read_study(folder: Path, study: Study[S]) -> StoredStudy[S]:
    """Return the study in a folder, also while a run is writing to it.

    Raises:
        NotFound: the folder has no such study.
        DataCorrupt: naming what is corrupt.
    """
    with snapshot(folder, study.what) as connection:
        rows = []
        if "studies" in tables_of(connection):
            chosen = "SELECT settings FROM studies WHERE name = ?"
            rows = connection.execute(chosen, (study.name,)).fetchall()
        if not rows:
            raise NotFound(f"{folder} contains no {study.what}")
        records = connection.execute(
            "SELECT part, position, record FROM study_records WHERE study = ?", (study.name,)
        ).fetchall()
    found: dict[str, dict[int, str]] = {QUESTIONS: {}}
    for part, position, record in records:
        found.setdefault(part, {})[position] = record
    where = f"the {study.what} of {folder}"
    texts = [text for _, text in sorted(found.pop(QUESTIONS).items())]
    if any(position >= len(texts) for some in found.values() for position in some):
        raise DataCorrupt(f"{where} has a record without a question")
    return StoredStudy(
        study.settings.read(rows[0][0].encode(), where),
        tuple(QUESTION.read(text.encode(), f"a question of {folder}") for text in texts),
        found,
    )


def find_study(folder: Path, study: Study[S]) -> StoredStudy[S] | None:
    """Return the study in an output folder; None if the folder is empty or new.

    Raises:
        InvalidRequest: the folder is a file, or has other files or the results of another command.
        DataCorrupt: naming what is corrupt.
    """
    check_is_folder(folder, study.name, field=study.field)
    try:
        return read_study(folder, study)
    except NotFound:
        return None


def check_same_study(folder: Path, study: Study[S], stored: S, requested: S) -> None:
    """Check that a request is for the study of its folder.

    Raises:
        InvalidRequest: naming the first differences.
    """
    before, now = study.settings.plain(stored), study.settings.plain(requested)
    if other := changed(before, now, ignored=study.may_differ):
        text = f"{folder} contains another {study.what}: {'; '.join(other)}"
        raise InvalidRequest.of(study.field, text)


def lines_of(part: Part[R], records: Sequence[R]) -> bytes:
    """Return records as JSON lines."""
    return b"".join(map(part.json.line, records))
