"""The labels of a data set as a folder.

labelling.json    the settings of the labelling (records.Labelling)
questions.jsonl   the questions, one per line
answered.jsonl    the answers of the model with their statistics, appended as they are made
mean.npz          the sum of the gradients of the first questions, and their number
products.jsonl    the products with the mean, appended as they are computed
labels.jsonl      the labels, one per line, written at the end
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.files import WRITING, locked, read_whole, unwritable, write_whole
from scaar.evaluator.store.line_log import LineLog, whole_lines
from scaar.evaluator.store.record_json import RecordJson
from scaar.evaluator.studies.longtail.mean_gradient import MeanGradient
from scaar.evaluator.studies.longtail.records import FORMAT, Answered, Label, Labelling, Product

LABELLING, QUESTIONS, LABELS = "labelling.json", "questions.jsonl", "labels.jsonl"
ANSWERED, MEAN, PRODUCTS = "answered.jsonl", "mean.npz", "products.jsonl"


@dataclass(frozen=True, slots=True)
class _Header:
    format: int


_HEADER = RecordJson(_Header)
_LABELLING = RecordJson(Labelling)
_QUESTION = RecordJson(Question)
_ANSWERED = RecordJson(Answered)
_PRODUCT = RecordJson(Product)
_LABEL = RecordJson(Label)
_MAY_DIFFER = ("created", "share")


class LabelFolder:
    """An unfinished labelling in a locked folder."""

    def __init__(self, folder: Path, answered: LineLog, products: LineLog) -> None:
        self._folder = folder
        self._answered = answered
        self._products = products
        found = _ANSWERED.read_lines(whole_lines(folder / ANSWERED), ANSWERED)
        self.answered = {each.question_id: each for each in found}
        products_found = _PRODUCT.read_lines(whole_lines(folder / PRODUCTS), PRODUCTS)
        self.products = {each.question_id: each.product for each in products_found}
        self.mean = MeanGradient(folder / MEAN)

    def add_answered(self, answered: Answered) -> None:
        """Store the answer to a question."""
        self._answered.append(_ANSWERED.line(answered))
        self.answered[answered.question_id] = answered

    def add_product(self, product: Product) -> None:
        """Store the product of a question."""
        self._products.append(_PRODUCT.line(product))
        self.products[product.question_id] = product.product

    def finish(self, labels: Sequence[Label]) -> None:
        """Store all labels."""
        write_whole(self._folder / LABELS, b"".join(map(_LABEL.line, labels)))


@contextmanager
def open_labelling(
    folder: Path, labelling: Labelling, questions: Sequence[Question]
) -> Iterator[LabelFolder]:
    """Open the folder of a labelling to resume it; create the folder if it does not exist.

    Raises:
        InvalidRequest: the folder has another labelling or other files, or another run is using
            it; the folder is unchanged.
        DataCorrupt: a file of the folder is corrupt.
    """
    check_label_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    with locked(folder):
        if (folder / LABELLING).exists():
            stored = _read_labelling(folder)
            _require_the_same(folder, stored, labelling)
            labelling = replace(labelling, created=stored.created)
        write_whole(folder / LABELLING, _LABELLING.document(labelling))
        if not (folder / QUESTIONS).exists():
            write_whole(folder / QUESTIONS, b"".join(map(_QUESTION.line, questions)))
        with LineLog(folder / ANSWERED) as answered, LineLog(folder / PRODUCTS) as products:
            yield LabelFolder(folder, answered, products)


def check_label_folder(folder: Path) -> None:
    """Validate the output folder before any model call.

    Raises:
        InvalidRequest: the folder is a file, or contains other files than a labelling's.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidRequest.of("--out", f"{folder} is not a folder")
    if folder.is_dir() and not (folder / LABELLING).exists():
        names = sorted(each.name for each in folder.iterdir() if not each.name.endswith(WRITING))
        if names:
            text = f"{folder} contains {names[0]} but no {LABELLING}; name an empty or new folder"
            raise InvalidRequest.of("--out", text)


def read_labels(folder: Path) -> tuple[Labelling, tuple[Question, ...], tuple[Label, ...]]:
    """Return the labelling, its questions, and their labels in the same order.

    Raises:
        NotFound: there is no labelling, or it is unfinished.
        DataCorrupt: naming the corrupt file and line.
    """
    labelling = _read_labelling(folder)
    if not (folder / LABELS).exists():
        raise NotFound(f"{folder} contains no {LABELS} yet: the labelling is unfinished")
    questions = tuple(_QUESTION.read_lines(read_whole(folder / QUESTIONS), QUESTIONS))
    labels = tuple(_LABEL.read_lines(read_whole(folder / LABELS), LABELS))
    if [each.id for each in questions] != [each.question_id for each in labels]:
        raise DataCorrupt(f"{folder / LABELS} does not have the questions of {QUESTIONS}")
    return labelling, questions, labels


def _require_the_same(folder: Path, stored: Labelling, requested: Labelling) -> None:
    before, now = (
        {
            **{f"dataset.{name}": value for name, value in _plain(each.dataset)},
            **{name: value for name, value in _plain(each) if name != "dataset"},
        }
        for each in (stored, requested)
    )
    changed = [
        f"{name} is {before[name]!r} in the stored one and {now[name]!r} now"
        for name in before
        if before[name] != now[name] and name not in (*_MAY_DIFFER, "dataset.path")
    ]
    if changed:
        text = f"{folder} contains another labelling: {'; '.join(changed[:5])}"
        raise InvalidRequest.of("--out", text)


def _plain(record: DatasetOrigin | Labelling) -> Iterator[tuple[str, object]]:
    for field in fields(record):
        yield field.name, getattr(record, field.name)


def _read_labelling(folder: Path) -> Labelling:
    path = folder / LABELLING
    if not path.exists():
        raise NotFound(f"{folder} contains no labels: there is no {LABELLING}")
    content = read_whole(path)
    if (found := _HEADER.read(content, str(path)).format) != FORMAT:
        raise DataCorrupt(f"{path} has format {found}; this version of scaar reads {FORMAT}")
    return _LABELLING.read(content, str(path))
