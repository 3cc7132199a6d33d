"""The labels of a data set in the database of a folder.

Beside the database there is ``mean.npz``, the sum of the gradients of the first questions and their
number. ``labels.jsonl`` has the labels for other tools.
"""

from dataclasses import replace
from pathlib import Path

from scaar.core.errors import NotFound
from scaar.evaluator.records import Question
from scaar.evaluator.store.record_json import RecordJson
from scaar.evaluator.store.studies import Part, Study, read_study
from scaar.evaluator.studies.longtail.records import Answered, Label, Labelling, Product

ANSWERED = Part("answered", RecordJson(Answered))
PRODUCTS = Part("products", RecordJson(Product))
LABELS = Part("labels", RecordJson(Label))
LABELLING = Study(
    "longtail",
    "labelling",
    RecordJson(Labelling),
    (ANSWERED, PRODUCTS, LABELS),
    may_differ=("created", "share", "dataset.path"),
    resumed=lambda stored, requested: replace(stored, share=requested.share),
)
MEAN, LABELS_FILE = "mean.npz", "labels.jsonl"


def read_labels(folder: Path) -> tuple[Labelling, tuple[Question, ...], tuple[Label, ...]]:
    """Return the labelling, its questions, and their labels in the same order.

    Raises:
        NotFound: there is no labelling, or it is unfinished.
        DataCorrupt: naming what is corrupt.
    """
    stored = read_study(folder, LABELLING)
    labels = tuple(stored.records(LABELS).values())
    if len(labels) != len(stored.questions):
        raise NotFound(f"{folder} contains no labels yet: the labelling is unfinished")
    return stored.settings, stored.questions, labels
