"""What is found of the known tail: by GECE and its ablations, and by the gate before an answer."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from record.longtail.measured import Gated, read_gated
from record.longtail.plan import GATE, LABELS, RUN, TAIL_SHARE
from record.sections import Shown
from record.telling import tell_highest
from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.evaluator.datasets.lab import RANKS
from scaar.evaluator.longtail.detection import Bounded, Found, detection, tail_of
from scaar.evaluator.longtail.folder import read_labels
from scaar.evaluator.longtail.gece import Variant, called_long_tail
from scaar.evaluator.longtail.records import Label
from scaar.evaluator.longtail.sifting import Sifted, sift
from scaar.evaluator.records import Question
from scaar.evaluator.report.cells import number, text
from scaar.evaluator.report.model import Cell, Column, Table
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.store.files import read_whole

TAIL = "popularity=tail"
HARDLY = f"rank={RANKS[-2] + 1} to {RANKS[-1]},tail"
"""The tail, and the films that the model hardly knows."""
HALF = 0.5
"""The F1 from which an answer counts as right."""
UNKNOWN = f"what the model alone gets wrong (F1 below {HALF:g})"
NAMES = {
    "gece": "GECE",
    "without_statistics": "GECE without statistics",
    "without_semantics": "GECE without semantics",
    "gap of METEOR and probability": "the gap of METEOR and probability",
    "METEOR, low first": "METEOR alone",
    "token probability, low first": "token probability alone",
    "word frequency, low first": "word frequency alone",
    "gradients' product, low first": "the gradients' product alone",
}
_PRECISION = f"precision at {TAIL_SHARE:.0%}"


def show_labels(folders: Sequence[Path]) -> Shown:
    """How well the labels find the tail: of the world of the report, and of the other, folded."""
    tables, told = [], []
    for folder in sorted(folders, key=lambda each: each.name != LABELS):
        labelling, questions, labels = read_labels(folder)
        seed = labelling.dataset.seed
        for tail, what in ((TAIL, "the tail"), (HARDLY, "the tail and what is hardly known")):
            truths = tail_of(questions, tail)
            found = detection(labels, questions, truths, share=labelling.share)
            name = f"orders_{len(tables)}"
            tables.append(_orders(f"What finds {what}, seed {seed}", name, found, fmean(truths)))
            if tail == TAIL:
                told.append(f"Seed {seed}: {_told(found, labels)}")
    return Shown(tuple(tables[:2]), tuple(tables[2:]), tuple(told))


def show_gate(folders: Sequence[Path]) -> Shown:
    """What the gate passes of the report's questions, against their tail and against GECE."""
    by_name = {each.name: each for each in folders}
    gated = read_gated(by_name[RUN])
    labelling, questions, labels = read_labels(by_name[LABELS])
    check_labelled(questions, gated.results.questions)
    decided = gated.judged()
    judged = [decided[each.id] for each in questions]
    known = sift(judged, questions, tail_of(questions, TAIL))
    learned = _learned(by_name[GATE])
    called = called_long_tail(labels, learned.by, share=labelling.share)
    labelled = sift(judged, questions, called)
    alone = dict(zip((x.id for x in gated.measured.table.questions), knows(gated), strict=True))
    unknown = sift(judged, questions, [not alone[each.id] for each in questions])
    table = Table(
        "gate",
        "What the gate passes",
        (
            Column("against", "held against"),
            Column("questions", "questions", decimals=0),
            Column("passed", "judged long-tail", decimals=3),
            Column("precision", "precision", decimals=3),
            Column("recall", "recall", decimals=3),
            Column("auroc", "AUROC", decimals=3),
        ),
        (
            (text("the known tail"), number(len(questions)), *_cells(known)),
            (text(f"the labels by {NAMES[learned.by]}"), number(len(questions)), *_cells(labelled)),
            (text(UNKNOWN), number(len(questions)), *_cells(unknown)),
        ),
        note=(
            f"The threshold is {judged[0].threshold:.3f}, the one at which as many of the "
            f"{learned.development} questions that the gate was learned from pass as "
            f"{NAMES[learned.by]} calls long-tail. In brackets 95% intervals by entity."
        ),
    )
    told = (
        f"The gate judges {_written(known.passed)} of the questions long-tail. Of these "
        f"{_written(known.precision)} are of the known tail, of which it passes "
        f"{_written(known.recall)}; it passes {_written(unknown.recall)} of what the model alone "
        "gets wrong.",
        f"Of its own world's labels it finds those of the {learned.test} questions that it was "
        f"not learned from with {_PRECISION} {_or_none(learned.precision)} and AUROC "
        f"{_or_none(learned.auroc)}.",
    )
    return Shown((table,), told=told)


@dataclass(frozen=True, slots=True)
class _Learned:
    """Whose labels a gate was learned from, of how many questions, and what it finds of others'."""

    by: Variant
    development: int
    test: int
    precision: float | None
    auroc: float | None


def knows(gated: Gated) -> NDArray[np.bool_]:
    """Whether the model by itself answers each question of the table more right than wrong."""
    return gated.measured.table.column("f1")[gated.alone] >= HALF


def check_labelled(labelled: Sequence[Question], asked: Sequence[Question]) -> None:
    """Passes an evaluation of the very questions that were labelled.

    Raises:
        InvalidRequest: it is of others.
    """
    if {each.id: each for each in labelled} != {each.id: each for each in asked}:
        told = f"{LABELS} and {RUN} are of other questions; both are drawn by one seed and limit"
        raise InvalidRequest.of("DIR", told)


def _learned(path: Path) -> _Learned:
    names = ("development", "test", "precision on test", "AUROC on test")
    try:
        told = json.loads(read_whole(path))["learned_from"]
        return _Learned(Variant(told["labels by"]), *(told[name] for name in names))
    except (ValueError, KeyError, TypeError) as error:
        raise DataCorrupt(f"{path} does not tell what it was learned from: {error}") from error


def _orders(title: str, name: str, found: Sequence[Found], chance: float) -> Table:
    return Table(
        name,
        title,
        (
            Column("by", "ordered by"),
            Column("precision", _PRECISION, decimals=3),
            Column("auroc", "AUROC", decimals=3),
        ),
        tuple((text(NAMES[each.by]), _cell(each.precision), _cell(each.auroc)) for each in found),
        note=(
            f"{chance:.0%} of the questions are to be found: by chance precision is {chance:.2f}, "
            "and AUROC 0.5. In brackets 95% intervals by entity."
        ),
    )


def _told(found: Sequence[Found], labels: Sequence[Label]) -> str:
    gece = found[0]
    infinite = sum(each.gece is None for each in labels)
    highest = tell_highest(
        _PRECISION,
        {
            NAMES[each.by]: Estimate(each.precision.value, each.precision.low, each.precision.high)
            for each in found
        },
    )
    return (
        f"GECE finds the tail with {_PRECISION} {_written(gece.precision)} and AUROC "
        f"{_written(gece.auroc)}; {infinite} of {len(labels)} questions have a product of "
        f"gradients of 0 or less. {highest[:1].upper()}{highest[1:]}"
    )


def _cells(found: Sifted) -> tuple[Cell, ...]:
    return tuple(map(_cell, (found.passed, found.precision, found.recall, found.auroc)))


def _cell(found: Bounded) -> Cell:
    if math.isnan(found.value):
        return Cell(None, note="undefined")
    return Cell(found.value, found.low, found.high)


def _written(found: Bounded) -> str:
    if math.isnan(found.value):
        return "none"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _or_none(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
