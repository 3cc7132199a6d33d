"""A data set opened: its questions, checked, and what is known of the file that they are from."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.validation import MAX_QUESTION_CHARACTERS, MAX_QUESTION_WORDS
from scaar.evaluator.datasets import KINDS, kind_of
from scaar.evaluator.datasets.kind import Kind, Row, Source
from scaar.evaluator.datasets.published import PUBLISHED
from scaar.evaluator.datasets.reading import digest_of, records_of
from scaar.evaluator.records import Question

TOO_LONG = "longer than a question may be"


@dataclass(frozen=True, slots=True)
class DataSet:
    """Questions of one kind, in the order of their file, each id once.

    ``left_out`` counts the records that are no questions to ask, by why. ``sha256`` is of the file
    that was read, empty where it was none or a folder; ``published_as`` the name of the official
    file that it is, empty where that is not known.
    """

    kind: Kind
    questions: tuple[Question, ...]
    left_out: Mapping[str, int]
    sha256: str = ""
    published_as: str = ""


def open_dataset(
    name: str,
    path: Path | None = None,
    *,
    aliases: Path | None = None,
    sha256: str = "",
    seed: int | None = None,
    count: int | None = None,
    style: float | None = None,
    tail_share: float | None = None,
) -> DataSet:
    """The data set of that name from its file; ``lab`` has none and takes the last four instead.

    ``aliases`` is the file with further answers of the sets that have one. With a ``sha256`` the
    file must be the one of that checksum.

    Raises:
        InvalidRequest: there is no such data set, an option is not one of its, or the file cannot
            be read or has another checksum or layout; naming file, record and field.
    """
    kind, source = kind_of(name), Source(path, aliases, seed, count, style, tail_share)
    check_source(kind, source)
    digest = _digest(source, sha256)
    try:
        rows = list(kind.read(source))
    except InvalidRequest as error:
        raise _told_of_layout(error, kind, source) from error
    return DataSet(
        kind=kind,
        questions=_questions(rows, kind, source),
        left_out=Counter(row.left_out or TOO_LONG for row in rows if not _asks(row)),
        sha256=digest,
        published_as=PUBLISHED.get(digest, ""),
    )


def check_source(kind: Kind, source: Source) -> None:
    """Passes a source that a data set of this kind is read from.

    Raises:
        InvalidRequest: the file is missing or not wanted, or an option is not one of the kind's.
    """
    wrong = []
    if kind.of_a_file and source.path is None:
        wrong.append(Violation("path", f"must name the file of {kind.name}: {kind.layout}"))
    for field, value, taken in (
        ("path", source.path, kind.of_a_file),
        ("aliases", source.aliases, kind.takes_aliases),
        ("seed", source.seed, not kind.of_a_file),
        ("count", source.count, not kind.of_a_file),
        ("style", source.style, not kind.of_a_file),
        ("tail_share", source.tail_share, not kind.of_a_file),
    ):
        if value is not None and not taken:
            wrong.append(Violation(field, f"is not taken by the data set {kind.name}"))
    if wrong:
        raise InvalidRequest(wrong)


def _digest(source: Source, expected: str) -> str:
    if source.path is None or source.path.is_dir():
        if expected:
            raise InvalidRequest.of("sha256", "is of a file, and the questions are from none")
        return ""
    found = digest_of(source.path)
    if expected and expected.lower() != found:
        told = f"{source.path} has {found}, not {expected.lower()}"
        raise InvalidRequest.of("sha256", told)
    return found


def _questions(rows: Iterable[Row], kind: Kind, source: Source) -> tuple[Question, ...]:
    asked: dict[str, tuple[str, Question]] = {}
    for row in rows:
        if row.question is None or not _asks(row):
            continue
        if first := asked.get(row.question.id):
            told = f"{row.question.id!r} is the id of {first[0]} already"
            raise InvalidRequest.of(f"{row.place}, id", told)
        asked[row.question.id] = (row.place, row.question)
    if not asked:
        raise InvalidRequest.of("path", f"{source.path} holds no question of {kind.title}")
    return tuple(question for _, question in asked.values())


def _asks(row: Row) -> bool:
    """Whether the row is a question that may be asked."""
    return row.question is not None and (
        len(row.question.question) <= MAX_QUESTION_CHARACTERS
        and len(row.question.question.split()) <= MAX_QUESTION_WORDS
    )


def _told_of_layout(error: InvalidRequest, kind: Kind, source: Source) -> InvalidRequest:
    """The error, with the layout that the file has and the one that it should have."""
    if source.path is None or source.path.is_dir():
        return error
    try:
        fields = set(next(records_of(source.path, within="Data")).fields)
    except (InvalidRequest, StopIteration):
        return error
    if kind.marks <= fields:
        return error
    likely = max(
        (other for other in KINDS.values() if other.marks and other.marks <= fields),
        key=lambda other: len(other.marks),
        default=None,
    )
    seems = f" The file has the layout of {likely.name}." if likely else ""
    first, *others = error.violations
    told = f"{first.description}.{seems} The layout of {kind.name} is {kind.layout}"
    return InvalidRequest([Violation(first.field, told), *others])
