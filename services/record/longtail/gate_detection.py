"""The questions that the gate passes before an answer, and gates learned from other labels."""

from collections.abc import Sequence
from pathlib import Path

from record.longtail.gated_evaluation import GatedEvaluation, read_gated
from record.longtail.gates import Learned, in_force, read_gates
from record.longtail.label_detection import PRECISION
from record.longtail.plan import LABELS, RUN
from record.longtail.tails import NAMES, TAIL, UNKNOWN, check_labelled, knows
from record.sections import PartContent
from record.sentences import written
from scaar.core.types import GateJudged
from scaar.evaluator.records import Question
from scaar.evaluator.report.cells import estimated, number, text
from scaar.evaluator.report.model import Cell, Column, Table
from scaar.evaluator.studies.longtail.detection import GateScores, score_gate, tail_of
from scaar.evaluator.studies.longtail.folder import read_labels
from scaar.evaluator.studies.longtail.gece import called_long_tail

_COLUMNS = (
    Column("passed", "judged long-tail", decimals=3),
    Column("precision", "precision", decimals=3),
    Column("recall", "recall", decimals=3),
    Column("auroc", "AUROC", decimals=3),
)
_BOUNDS = "In brackets 95% intervals by entity."


def show_gates(folders: Sequence[Path]) -> PartContent:
    """Return the detection of the gate, and that of gates learned from other labels."""
    by_name = {each.name: each for each in folders}
    gated = read_gated(by_name[RUN])
    labelling, questions, labels = read_labels(by_name[LABELS])
    check_labelled(questions, gated.results.questions)
    gates = read_gates(folders)
    own = in_force(gates, gated)
    decided = gated.judged()
    judged = [decided[each.id] for each in questions]
    alone = dict(zip((x.id for x in gated.measurements.table.questions), knows(gated), strict=True))
    unknown = [not alone[each.id] for each in questions]
    known = score_gate(judged, questions, tail_of(questions, TAIL))
    wrong = score_gate(judged, questions, unknown)
    called = called_long_tail(labels, own.by, share=labelling.share)
    rows = {
        "the known tail": known,
        f"the labels of {NAMES[own.by]}": score_gate(judged, questions, called),
        UNKNOWN: wrong,
    }
    table = Table(
        "gate",
        f"Questions that the gate passes, learned from the labels of {NAMES[own.by]}",
        (Column("against", "compared with"), *_COLUMNS),
        tuple((text(name), *_cells(found)) for name, found in rows.items()),
        note=(
            f"At the threshold of {own.proxy.threshold:.3f}, the gate passes as many of the "
            f"{own.development} questions that it was learned from as the labels call "
            f"long-tail. {_BOUNDS}"
        ),
    )
    sentences = (
        f"The gate judges {written(known.passed)} of the questions as long-tail. Of these, "
        f"{written(known.precision)} are of the known tail, of which it passes "
        f"{written(known.recall)}; it passes {written(wrong.recall)} of the questions that the "
        "model alone answers wrong.",
    )
    return PartContent((table, _others(gates, judged, questions, unknown)), sentences=sentences)


def gates_in_words(gates: Sequence[Learned], gated: GatedEvaluation) -> dict[str, Learned]:
    """Return the gates by the names used where several decide, the active one first."""
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
        wrong = score_gate(own, questions, unknown)
        learned = (number(each, missing="undefined") for each in (gate.precision, gate.auroc))
        rows.append(
            (
                text(NAMES[gate.by]),
                *learned,
                *_cells(score_gate(own, questions, tail)),
                estimated(wrong.precision),
                estimated(wrong.recall),
            )
        )
    return Table(
        "gates",
        "Gates learned from other labels, compared with the known tail",
        (
            Column("by", "learned from"),
            Column("own_precision", f"own labels, {PRECISION}", decimals=3),
            Column("own_auroc", "own labels, AUROC", decimals=3),
            *_COLUMNS,
            Column("wrong_precision", "answered wrong, precision", decimals=3),
            Column("wrong_recall", "answered wrong, recall", decimals=3),
        ),
        tuple(rows),
        note=(
            "The own labels are those of the test split of the gate's world. The other columns "
            "are of the questions of this report; the last two are compared with the questions "
            f"that {UNKNOWN.removeprefix('what ')}. {_BOUNDS}"
        ),
    )


def _cells(found: GateScores) -> tuple[Cell, ...]:
    return tuple(map(estimated, (found.passed, found.precision, found.recall, found.auroc)))
