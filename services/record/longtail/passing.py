"""What the gate passes before an answer, beside gates that were learned from other labels."""

from collections.abc import Sequence
from pathlib import Path

from record.longtail.bounds import cell_of, written
from record.longtail.finding import PRECISION
from record.longtail.gates import Learned, in_force, read_gates
from record.longtail.measured import Gated, read_gated
from record.longtail.plan import LABELS, RUN
from record.longtail.tails import NAMES, TAIL, UNKNOWN, check_labelled, knows
from record.sections import Shown
from scaar.core.types import GateJudged
from scaar.evaluator.longtail.detection import tail_of
from scaar.evaluator.longtail.folder import read_labels
from scaar.evaluator.longtail.gece import called_long_tail
from scaar.evaluator.longtail.sifting import Sifted, sift
from scaar.evaluator.records import Question
from scaar.evaluator.report.cells import number, text
from scaar.evaluator.report.model import Cell, Column, Table

_COLUMNS = (
    Column("passed", "judged long-tail", decimals=3),
    Column("precision", "precision", decimals=3),
    Column("recall", "recall", decimals=3),
    Column("auroc", "AUROC", decimals=3),
)
_BOUNDS = "In brackets 95% intervals by entity."


def show_gates(folders: Sequence[Path]) -> Shown:
    """What the gate passes of the report's questions, and what the others would."""
    by_name = {each.name: each for each in folders}
    gated = read_gated(by_name[RUN])
    labelling, questions, labels = read_labels(by_name[LABELS])
    check_labelled(questions, gated.results.questions)
    gates = read_gates(folders)
    own = in_force(gates, gated)
    decided = gated.judged()
    judged = [decided[each.id] for each in questions]
    alone = dict(zip((x.id for x in gated.measured.table.questions), knows(gated), strict=True))
    unknown = [not alone[each.id] for each in questions]
    known = sift(judged, questions, tail_of(questions, TAIL))
    wrong = sift(judged, questions, unknown)
    called = called_long_tail(labels, own.by, share=labelling.share)
    rows = {
        "the known tail": known,
        f"the labels of {NAMES[own.by]}": sift(judged, questions, called),
        UNKNOWN: wrong,
    }
    table = Table(
        "gate",
        f"What the gate passes, learned from the labels of {NAMES[own.by]}",
        (Column("against", "held against"), *_COLUMNS),
        tuple((text(name), *_cells(found)) for name, found in rows.items()),
        note=(
            f"The threshold is {own.proxy.threshold:.3f}, at which as many of the "
            f"{own.development} questions that it was learned from pass as the labels call "
            f"long-tail. {_BOUNDS}"
        ),
    )
    told = (
        f"The gate judges {written(known.passed)} of the questions long-tail. Of these "
        f"{written(known.precision)} are of the known tail, of which it passes "
        f"{written(known.recall)}; it passes {written(wrong.recall)} of what the model alone "
        "gets wrong.",
    )
    return Shown((table, _others(gates, judged, questions, unknown)), told=told)


def gates_in_words(gates: Sequence[Learned], gated: Gated) -> dict[str, Learned]:
    """The gates by what they are called where several decide, the one in force first."""
    own = in_force(gates, gated)
    return {
        f"the gate learned from {NAMES[each.by]}": each
        for each in sorted(gates, key=lambda one: one is not own)
    }


def _others(
    gates: Sequence[Learned],
    judged: Sequence[GateJudged],
    questions: Sequence[Question],
    unknown: Sequence[bool],
) -> Table:
    tail = tail_of(questions, TAIL)
    rows = []
    for gate in gates:
        own = [gate.judges(each) for each in judged]
        wrong = sift(own, questions, unknown)
        learned = (number(each, missing="undefined") for each in (gate.precision, gate.auroc))
        rows.append(
            (
                text(NAMES[gate.by]),
                *learned,
                *_cells(sift(own, questions, tail)),
                cell_of(wrong.precision),
                cell_of(wrong.recall),
            )
        )
    return Table(
        "gates",
        "Gates learned from other labels, held against the known tail",
        (
            Column("by", "learned from"),
            Column("own_precision", f"own labels, {PRECISION}", decimals=3),
            Column("own_auroc", "own labels, AUROC", decimals=3),
            *_COLUMNS,
            Column("wrong_precision", "gets wrong, precision", decimals=3),
            Column("wrong_recall", "gets wrong, recall", decimals=3),
        ),
        tuple(rows),
        note=(
            "The own labels are those of the half of its world that a gate was not learned from; "
            "the rest is of the questions of this report, the last two columns held against "
            f"{UNKNOWN}. {_BOUNDS}"
        ),
    )


def _cells(found: Sifted) -> tuple[Cell, ...]:
    return tuple(map(cell_of, (found.passed, found.precision, found.recall, found.auroc)))
