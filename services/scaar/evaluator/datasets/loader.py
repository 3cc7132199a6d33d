"""The loader of data sets: checked questions, and the checksum of their file."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from scaar.core.errors import InvalidRequest, Violation
from scaar.evaluator.datasets import KINDS, kind_of
from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.reader import digest_of, records_of
from scaar.evaluator.records import Question

PUBLISHED: Mapping[str, str] = MappingProxyType(
    {
        "26650cf50234ef5fb2e664ed70bbecdfd87815e6bffc257e068efea5cf7cd316": (
            "hotpot_train_v1.1.json"
        ),
        "4e9ecb5c8d3b719f624d66b60f8d56bf227f03914f5f0753d6fa1b359d7104ea": (
            "hotpot_dev_distractor_v1.json"
        ),
        "2f1f3e594a3066a3084cc57950ca2713c24712adaad03af6ccce18d1846d5618": (
            "hotpot_dev_fullwiki_v1.json"
        ),
        "c61a5274b9aa6deca3f7d2dc4d7757684c158fbd2264f759307699fb53801c2b": (
            "hotpot_test_fullwiki_v1.json"
        ),
        "f15567f38099f3615f5b8a685c0aef449c11ad90d3da3735e8d1b98115b40616": "NQ-open.dev.jsonl",
        "0c93aaf13b12f855628489665e4ef85ffb8573ad444646f11f4fabdc57a0aabf": "NQ-open.train.jsonl",
    }
)
"""Names of officially published files by their SHA-256.

The list contains only files with a published checksum: those of HotpotQA and NQ-open are the
``download_checksums`` of ``hotpot_qa`` and ``nq_open`` in huggingface/datasets. A file with another
checksum may also be official.
"""

MAX_QUESTION_WORDS = 500
MAX_QUESTION_CHARACTERS = 8_000
TOO_LONG = f"longer than {MAX_QUESTION_CHARACTERS:,} characters or {MAX_QUESTION_WORDS} words"


@dataclass(frozen=True, slots=True)
class DataSet:
    """The questions of a data set, in the order of their file, with unique ids.

    ``left_out`` counts the records without a valid question, by reason. ``sha256`` is the checksum
    of the file, empty for a folder and without a file; ``published_as`` is the name of the official
    file with that checksum, empty if there is none.
    """

    kind: DatasetKind
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
    freedom: float | None = None,
) -> DataSet:
    """Load a data set from its file; ``lab`` has no file and takes the last five options instead.

    ``aliases`` is the file with aliases of the answers, for data sets that have one. If ``sha256``
    is given, the file must have that checksum.

    Raises:
        InvalidRequest: the data set is unknown or does not take an option, or the file cannot be
            read or has another checksum or layout; names file, record and field.
    """
    kind = kind_of(name)
    source = Source(path, aliases, seed, count, style, tail_share, freedom)
    check_source(kind, source)
    digest = _digest(source, sha256)
    try:
        rows = list(kind.read(source))
    except InvalidRequest as error:
        raise _with_layout(error, kind, source) from error
    left_out = Counter(row.left_out or TOO_LONG for row in rows if not _is_valid(row))
    return DataSet(
        kind=kind,
        questions=_questions(rows, kind, source, left_out),
        left_out=left_out,
        sha256=digest,
        published_as=PUBLISHED.get(digest, ""),
    )


def check_source(kind: DatasetKind, source: Source) -> None:
    """Check that a source suits a data set.

    Raises:
        InvalidRequest: the file is missing or not taken, or the data set does not take an option.
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
        ("freedom", source.freedom, not kind.of_a_file),
    ):
        if value is not None and not taken:
            wrong.append(Violation(field, f"is not taken by the data set {kind.name}"))
    if wrong:
        raise InvalidRequest(wrong)


def _digest(source: Source, expected: str) -> str:
    if source.path is None or source.path.is_dir():
        if expected:
            raise InvalidRequest.of("sha256", "is of a file, and these questions have no file")
        return ""
    found = digest_of(source.path)
    if expected and expected.lower() != found:
        text = f"{source.path} has {found}, not {expected.lower()}"
        raise InvalidRequest.of("sha256", text)
    return found


def _questions(
    rows: Iterable[Row], kind: DatasetKind, source: Source, left_out: Mapping[str, int]
) -> tuple[Question, ...]:
    known: dict[str, tuple[str, Question]] = {}
    for row in rows:
        if row.question is None or not _is_valid(row):
            continue
        if first := known.get(row.question.id):
            text = f"{row.question.id!r} is already the id of {first[0]}"
            raise InvalidRequest.of(f"{row.place}, id", text)
        known[row.question.id] = (row.place, row.question)
    if not known:
        reasons = [f"{number:,} left out: {why}" for why, number in sorted(left_out.items())]
        text = f"{source.path} contains no question of {kind.name}"
        raise InvalidRequest.of("path", "; ".join([text, *reasons]))
    return tuple(question for _, question in known.values())


def _is_valid(row: Row) -> bool:
    """Whether the row has a question within the limits."""
    return row.question is not None and (
        len(row.question.question) <= MAX_QUESTION_CHARACTERS
        and len(row.question.question.split()) <= MAX_QUESTION_WORDS
    )


def _with_layout(error: InvalidRequest, kind: DatasetKind, source: Source) -> InvalidRequest:
    """The error, extended by the layout of the file and the expected layout."""
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
    text = f"{first.description}.{seems} The layout of {kind.name} is {kind.layout}"
    return InvalidRequest([Violation(first.field, text), *others])
