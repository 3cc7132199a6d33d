"""The labels of a data set as a folder.

labelling.json    what is labelled and by what (records.Labelling)
questions.jsonl   the questions, a line each
answered.jsonl    what the model answers, and what is counted of it, appended when it is there
mean.npz          the sum of the gradients of the first questions, and of how many
products.jsonl    the products with the mean, appended when they are there
labels.jsonl      the labels, a line each, when all of it is there
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.evaluator.longtail.mean_gradient import MeanGradient
from scaar.evaluator.longtail.records import FORMAT, Answered, Label, Labelling, Product
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.files import WRITING, locked, read_whole, unwritable, write_whole
from scaar.evaluator.store.line_log import LineLog, whole_lines
from scaar.evaluator.store.record_json import RecordJson

LABELLING, QUESTIONS, LABELS = "labelling.json", "questions.jsonl", "labels.jsonl"
ANSWERED, MEAN, PRODUCTS = "answered.jsonl", "mean.npz", "products.jsonl"


@dataclass(frozen=True, slots=True)
class _Form:
    format: int


_FORM = RecordJson(_Form)
_LABELLING = RecordJson(Labelling)
_QUESTION = RecordJson(Question)
_ANSWERED = RecordJson(Answered)
_PRODUCT = RecordJson(Product)
_LABEL = RecordJson(Label)
_MAY_DIFFER = ("created", "share")


class LabelFolder:
    """A labelling in a folder that is ours alone, as far as it has come."""

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
        """Keeps what was answered to a question."""
        self._answered.append(_ANSWERED.line(answered))
        self.answered[answered.question_id] = answered

    def add_product(self, product: Product) -> None:
        """Keeps the product of a question."""
        self._products.append(_PRODUCT.line(product))
        self.products[product.question_id] = product.product

    def finish(self, labels: Sequence[Label]) -> None:
        """Keeps the labels, all at once."""
        write_whole(self._folder / LABELS, b"".join(map(_LABEL.line, labels)))


@contextmanager
def open_labelling(
    folder: Path, asked: Labelling, questions: Sequence[Question]
) -> Iterator[LabelFolder]:
    """The folder of that labelling to be gone on with; made where there is none.

    Raises:
        InvalidRequest: it is another labelling's or none's, or another run has it; nothing in it
            has been touched.
        DataCorrupt: what it holds does not hold together.
    """
    check_label_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    with locked(folder):
        if (folder / LABELLING).exists():
            there = _read_labelling(folder)
            _require_the_same(folder, there, asked)
            asked = replace(asked, created=there.created)
        write_whole(folder / LABELLING, _LABELLING.document(asked))
        if not (folder / QUESTIONS).exists():
            write_whole(folder / QUESTIONS, b"".join(map(_QUESTION.line, questions)))
        with LineLog(folder / ANSWERED) as answered, LineLog(folder / PRODUCTS) as products:
            yield LabelFolder(folder, answered, products)


def check_label_folder(folder: Path) -> None:
    """Passes a folder that labels can go to, as far as can be told before a model is asked.

    Raises:
        InvalidRequest: it is a file, or holds what is no labelling.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidRequest.of("--out", f"{folder} is not a folder")
    if folder.is_dir() and not (folder / LABELLING).exists():
        names = sorted(each.name for each in folder.iterdir() if not each.name.endswith(WRITING))
        if names:
            text = f"{folder} holds {names[0]} and no {LABELLING}; name a folder of its own"
            raise InvalidRequest.of("--out", text)


def read_labels(folder: Path) -> tuple[Labelling, tuple[Question, ...], tuple[Label, ...]]:
    """What was labelled, and the labels in the order of the questions.

    Raises:
        NotFound: there are no labels, or not yet.
        DataCorrupt: naming the file and the line that does not hold together.
    """
    labelling = _read_labelling(folder)
    if not (folder / LABELS).exists():
        raise NotFound(f"{folder} holds no {LABELS} yet: the labelling is not at its end")
    questions = tuple(_QUESTION.read_lines(read_whole(folder / QUESTIONS), QUESTIONS))
    labels = tuple(_LABEL.read_lines(read_whole(folder / LABELS), LABELS))
    if [each.id for each in questions] != [each.question_id for each in labels]:
        raise DataCorrupt(f"{folder / LABELS} does not have the questions of {QUESTIONS}")
    return labelling, questions, labels


def _require_the_same(folder: Path, there: Labelling, asked: Labelling) -> None:
    before, now = (
        {
            **{f"dataset.{name}": value for name, value in _plain(each.dataset)},
            **{name: value for name, value in _plain(each) if name != "dataset"},
        }
        for each in (there, asked)
    )
    changed = [
        f"{name} is {before[name]!r} there and {now[name]!r} now"
        for name in before
        if before[name] != now[name] and name not in (*_MAY_DIFFER, "dataset.path")
    ]
    if changed:
        text = f"{folder} holds another labelling: {'; '.join(changed[:5])}"
        raise InvalidRequest.of("--out", text)


def _plain(record: DatasetOrigin | Labelling) -> Iterator[tuple[str, object]]:
    for field in fields(record):
        yield field.name, getattr(record, field.name)


def _read_labelling(folder: Path) -> Labelling:
    path = folder / LABELLING
    if not path.exists():
        raise NotFound(f"{folder} holds no labels: there is no {LABELLING}")
    content = read_whole(path)
    if (form := _FORM.read(content, str(path)).format) != FORMAT:
        raise DataCorrupt(f"{path} is of format {form}; this scaar reads {FORMAT}")
    return _LABELLING.read(content, str(path))
