"""The share of the known tail that GECE, its ablations and its parts detect."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from statistics import fmean

import numpy as np

from record.longtail.plan import LABELS, TAIL_SHARE
from record.longtail.tails import HARDLY, NAMES, TAIL
from record.sections import PartContent
from record.sentences import Paired, highest_sentence, written
from scaar.evaluator.records import Question
from scaar.evaluator.report.cells import estimated, number, text
from scaar.evaluator.report.model import Column, Table
from scaar.evaluator.statistics.detection import Truths, auroc, entity_draws
from scaar.evaluator.statistics.detection import estimated as estimate_of
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.longtail.detection import BY, Found, detection, precision_at, tail_of
from scaar.evaluator.studies.longtail.folder import read_labels
from scaar.evaluator.studies.longtail.records import Label

PRECISION = f"precision at {TAIL_SHARE:.0%}"


def show_labels(folders: Sequence[Path]) -> PartContent:
    """Return the detection of the tail in the world of the report, and folded in the other."""
    tables: list[Table] = []
    sentences: list[str] = []
    for folder in sorted(folders, key=lambda each: each.name != LABELS):
        labelling, questions, labels = read_labels(folder)
        seed = labelling.dataset.seed
        for tail, what in ((TAIL, "the tail"), (HARDLY, "the tail and hardly known films")):
            truths = tail_of(questions, tail)
            found = detection(labels, questions, truths, share=labelling.share)
            title, name = f"Detection of {what}, seed {seed}", f"orders_{len(tables)}"
            tables.append(_orders(title, name, found, fmean(truths)))
            if tail == TAIL:
                paired = _paired(labels, questions, truths, labelling.share)
                sentences.append(f"Seed {seed}: {_sentences(found, labels, paired)}")
        tables.append(_kinds(f"GECE by kind, seed {seed}", f"kinds_{seed}", labels, questions))
    return PartContent(tuple(tables[:3]), tuple(tables[3:]), tuple(sentences))


def _orders(title: str, name: str, found: Sequence[Found], chance: float) -> Table:
    return Table(
        name,
        title,
        (
            Column("by", "ordered by"),
            Column("precision", PRECISION, decimals=3),
            Column("auroc", "AUROC", decimals=3),
        ),
        tuple(
            (text(NAMES[each.by]), estimated(each.precision), estimated(each.auroc))
            for each in found
        ),
        note=(
            f"{chance:.0%} of the questions are of the tail: by chance precision is {chance:.2f}, "
            "and AUROC 0.5. In brackets 95% intervals by entity."
        ),
    )


def _kinds(title: str, name: str, labels: Sequence[Label], questions: Sequence[Question]) -> Table:
    tail = np.array(tail_of(questions, TAIL))
    kinds = np.array([dict(each.labels)["kind"] for each in questions])
    called = np.array([each.long_tail for each in labels])
    infinite = np.array([each.gece is None for each in labels])
    first = np.array([-float(each.rank) for each in labels])
    rows = []
    for kind in sorted(set(kinds.tolist())):
        own = kinds == kind
        shares = (float(each[own].mean()) for each in (tail, infinite, called))
        order = auroc(first[own], tail[own])
        within = number(None if isnan(order) else order, missing="undefined")
        rows.append((text(kind), number(int(own.sum())), *map(number, shares), within))
    return Table(
        name,
        title,
        (
            Column("kind", "kind"),
            Column("questions", "questions", decimals=0),
            Column("tail", "in the tail", decimals=2),
            Column("infinite", "product of 0 or less", decimals=2),
            Column("called", "called long-tail", decimals=2),
            Column("auroc", "AUROC within the kind", decimals=2),
        ),
        tuple(rows),
        note="Shares of the questions of a kind; the ranks are those among all questions.",
    )


def _paired(
    labels: Sequence[Label], questions: Sequence[Question], tail: Sequence[bool], share: float
) -> Paired:
    """Return the paired difference of the precision of two orders, by the names on the page."""
    truths = np.array(tail)
    samples = entity_draws([each.entity for each in questions], truths)
    scores = {NAMES[by]: np.array([*map(score, labels)]) for by, score in BY.items()}

    def difference(two: Floats, truths: Truths) -> float:
        return precision_at(two[:, 0], truths, share) - precision_at(two[:, 1], truths, share)

    def paired(name: str, best: str) -> Estimate:
        two = np.stack([scores[name], scores[best]], axis=1)
        return estimate_of(difference, two, truths, samples)

    return paired


def _sentences(found: Sequence[Found], labels: Sequence[Label], paired: Paired) -> str:
    gece = found[0]
    infinite = sum(each.gece is None for each in labels)
    highest = highest_sentence(
        PRECISION, {NAMES[each.by]: each.precision for each in found}, paired
    )
    return (
        f"GECE detects the tail with {PRECISION} {written(gece.precision)} and AUROC "
        f"{written(gece.auroc)}; {infinite} of {len(labels)} questions have a product of "
        f"gradients of 0 or less. {highest[:1].upper()}{highest[1:]}"
    )
