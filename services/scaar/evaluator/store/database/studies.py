"""Studies in the database of a folder, which one process at a time writes."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from sqlalchemy.ext.asyncio import AsyncConnection

from scaar.core.errors import BackendUnavailable
from scaar.database.database import Database, run_to_end
from scaar.database.migration import open_checked_database
from scaar.evaluator.records import Question
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.evaluator.store.database.tables import STUDIES, STUDY_RECORDS
from scaar.evaluator.store.folder import held, unwritable_database
from scaar.evaluator.store.studies import (
    QUESTION,
    QUESTIONS,
    Part,
    R,
    S,
    StoredStudy,
    Study,
    check_same_study,
    find_study,
)


@dataclass(frozen=True, slots=True)
class StudyStore:
    """A study, by its name, in a folder that this process holds."""

    folder: Path
    name: str
    database: Database
    places: Mapping[str, int]
    """The positions of the questions by id."""

    def part(self, part: Part[R]) -> "PartStore[R]":
        """Return the store of the records of a part."""
        return PartStore(self, part)


@dataclass(frozen=True, slots=True)
class PartStore(Generic[R]):
    """A :class:`~scaar.evaluator.execution.items.RecordStore` of one part of a study."""

    store: StudyStore
    part: Part[R]
    gather_s: float = 0.25

    async def add(self, records: Sequence[R], /) -> None:
        """Store records; each replaces that of its question.

        Raises:
            ScaarError: they cannot be stored; earlier records are stored.
        """
        texts = {
            self.store.places[each.question_id]: self.part.json.line(each).decode()
            for each in records
        }
        with _folder_errors(self.store.folder, needed_bytes=sum(map(len, texts.values()))):
            await _add(self.store.database, self.store.name, self.part.name, texts)


@asynccontextmanager
async def open_study(
    folder: Path, study: Study[S], settings: S, questions: Sequence[Question]
) -> AsyncIterator[StudyStore]:
    """Hold the folder of a study to resume it; create the folder if it does not exist.

    Raises:
        InvalidRequest: the folder has another study or other files, or another run is using it;
            the folder is unchanged.
        ScaarError: the folder or its database cannot be written.
    """
    find_study(folder, study)
    async with AsyncExitStack() as stack:
        url = stack.enter_context(held(folder, field=study.field))
        stored = find_study(folder, study)
        if stored is not None:
            check_same_study(folder, study, stored.settings, settings)
            settings = study.resumed(stored.settings, settings)
        with _folder_errors(folder):
            opened = open_checked_database(url, SCHEMA, exclusive=True)
            database = await stack.enter_async_context(opened)
            store = StudyStore(
                *(folder, study.name, database), {each.id: at for at, each in enumerate(questions)}
            )
            if stored is None or settings != stored.settings:
                await _start(database, study, settings, questions)
        yield store


async def add_study(database: Database, study: Study[S], stored: StoredStudy[S]) -> None:
    """Store a study with all its records."""
    await _start(database, study, stored.settings, stored.questions)
    for part, texts in stored.found.items():
        await _add(database, study.name, part, texts)


@run_to_end
async def _start(
    database: Database, study: Study[S], settings: S, questions: Sequence[Question]
) -> None:
    """Store the settings and the questions of a study."""
    text = study.settings.line(settings).decode()
    insert = database.insert(STUDIES).values(name=study.name, settings=text)
    upsert = insert.on_conflict_do_update(index_elements=["name"], set_={"settings": text})
    texts = {at: QUESTION.line(each).decode() for at, each in enumerate(questions)}
    async with database.writing() as connection:
        await connection.execute(upsert)
        await _insert(database, connection, study.name, QUESTIONS, texts)


@run_to_end
async def _add(database: Database, study: str, part: str, texts: Mapping[int, str]) -> None:
    async with database.writing() as connection:
        await _insert(database, connection, study, part, texts)


async def _insert(
    database: Database,
    connection: AsyncConnection,
    study: str,
    part: str,
    texts: Mapping[int, str],
) -> None:
    insert = database.insert(STUDY_RECORDS)
    upsert = insert.on_conflict_do_update(
        index_elements=["study", "part", "position"], set_={"record": insert.excluded.record}
    )
    if rows := [
        {"study": study, "part": part, "position": at, "record": text} for at, text in texts.items()
    ]:
        await connection.execute(upsert, rows)


@contextmanager
def _folder_errors(folder: Path, *, needed_bytes: int | None = None) -> Iterator[None]:
    """Name the file of the database in the error of a write."""
    try:
        yield
    except BackendUnavailable as error:
        raise unwritable_database(folder, error, needed_bytes=needed_bytes) from error
