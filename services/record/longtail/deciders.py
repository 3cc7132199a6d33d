"""Deciders of retrieval compared: GECE, its ablations, the gate, the known tail.

Their answers follow from stored ones: a question without retrieval has the answer of the model
alone, another the answer of the policy without a gate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from record.longtail.gate_detection import gates_in_words
from record.longtail.gated_evaluation import (
    MEASURES,
    GatedEvaluation,
    Measurements,
    measurements_of,
    read_gated,
)
from record.longtail.gates import read_gates
from record.longtail.plan import LABELS, RUN
from record.longtail.tails import NAMES, TAIL, UNKNOWN, check_labelled, knows
from record.sections import PartContent
from scaar.evaluator.records import Setting
from scaar.evaluator.report.cells import estimated, measure_title, number, score_column, text
from scaar.evaluator.report.model import Cell, Column, Table
from scaar.evaluator.studies.longtail.detection import tail_of
from scaar.evaluator.studies.longtail.folder import read_labels
from scaar.evaluator.studies.longtail.gece import Variant, called_long_tail

Passed = NDArray[np.bool_]
"""Whether each question is retrieved for, in the order of the table."""
_SINGLE = "single_round"


def show_deciders(folders: Sequence[Path]) -> PartContent:
    """Return the table of one policy in full, and a table of F1 of all policies."""
    by_name = {each.name: each for each in folders}
    gated = read_gated(by_name[RUN])
    deciders = _deciders(gated, by_name[LABELS], folders)
    decided = {each.policy: decided_by(gated, each.without, deciders) for each in gated.pairs}
    known = deciders["the known tail"]
    shown = _SINGLE if _SINGLE in decided else next(iter(decided))
    return PartContent(
        (_in_full(shown, decided[shown], deciders, known),), (_of_all(decided, deciders),)
    )


def _deciders(
    gated: GatedEvaluation, labels_folder: Path, folders: Sequence[Path]
) -> Mapping[str, Passed]:
    """Return the decisions of each decider by its name, from nobody to everybody."""
    labelling, questions, labels = read_labels(labels_folder)
    check_labelled(questions, gated.results.questions)
    tail = dict(zip((x.id for x in questions), tail_of(questions, TAIL), strict=True))
    called = {
        NAMES[variant]: dict(
            zip(
                (each.question_id for each in labels),
                called_long_tail(labels, variant, share=labelling.share),
                strict=True,
            )
        )
        for variant in Variant
    }
    judged = gated.judged()
    order = [each.id for each in gated.measurements.table.questions]
    everybody = np.ones(len(order), dtype=np.bool_)
    return {
        "nobody": ~everybody,
        "the known tail": np.array([tail[each] for each in order]),
        UNKNOWN: ~knows(gated),
        **{name: np.array([given[each] for each in order]) for name, given in called.items()},
        **{
            name: np.array([gate.judges(judged[each]).passed for each in order])
            for name, gate in gates_in_words(read_gates(folders), gated).items()
        },
        "everybody": everybody,
    }


def decided_by(
    gated: GatedEvaluation, without: int, deciders: Mapping[str, Passed]
) -> Measurements:
    """Return the policy's scores with each decider in turn."""
    table = gated.measurements.table
    policy, alone = table.values[without], table.values[gated.alone]
    values = np.stack([np.where(passed, policy, alone) for passed in deciders.values()])
    settings = tuple(Setting(name, table.settings[without].policy) for name in deciders)
    return measurements_of(replace(table, settings=settings, values=values))


def _in_full(
    policy: str, decided: Measurements, deciders: Mapping[str, Passed], known: Passed
) -> Table:
    rows = []
    for at, (name, passed) in enumerate(deciders.items()):
        found = int((passed & known).sum())
        cells: list[Cell] = [text(name), number(float(passed.mean()))]
        cells.append(number(found / passed.sum() if passed.any() else None, missing="undefined"))
        cells.append(number(found / known.sum()))
        cells += [estimated(decided.mean(measure, at)) for measure in MEASURES]
        rows.append(tuple(cells))
    return Table(
        "deciders",
        f"{policy}, only for the questions that each decider calls long-tail",
        (
            Column("decides", "decider"),
            Column("passed", "retrieved for", decimals=3),
            Column("precision", "precision", decimals=3),
            Column("recall", "recall", decimals=3),
            *(score_column(each, measure_title(each)) for each in MEASURES),
        ),
        tuple(rows),
        note=(
            "Precision and recall are of the known tail. GECE and its ablations know the "
            "reference answer, unlike a gate; each calls the same number of questions "
            "long-tail. In brackets 95% intervals by entity."
        ),
    )


def _of_all(decided: Mapping[str, Measurements], deciders: Mapping[str, Passed]) -> Table:
    rows = tuple(
        (text(name), *(estimated(each.mean("f1", at)) for each in decided.values()))
        for at, name in enumerate(deciders)
    )
    columns = (Column("decides", "decider"), *(score_column(each, each) for each in decided))
    return Table("deciders_f1", "F1 of every policy, by decider", columns, rows)
