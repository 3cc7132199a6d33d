"""Abstentions: answers that are probably wrong, according to their gate, or not in the passages."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from scaar.core.types import Abstention, AbstentionReason
from scaar.evaluator.records import Prediction
from scaar.evaluator.report.cells import number, text
from scaar.evaluator.report.model import Cell, Column, Section, Table


@dataclass(slots=True)
class AbstentionCount:
    """Collects the abstentions by setting."""

    found: defaultdict[str, list[Abstention]] = field(default_factory=lambda: defaultdict(list))

    def add(self, prediction: Prediction) -> None:
        """Count a prediction if its answer abstains."""
        if prediction.abstained is not None:
            self.found[prediction.setting].append(prediction.abstained)


def report_abstentions(abstentions: AbstentionCount) -> Section | None:
    """Return the number of abstentions of each setting; None if there are none."""
    if not abstentions.found:
        return None
    table = Table(
        "abstentions",
        "Answers that abstain",
        (
            Column("setting", "setting"),
            Column("abstained", "by the gate", decimals=0),
            Column("p_correct", "mean P(correct)", decimals=3),
            Column("not_in_documents", "not in the documents", decimals=0),
        ),
        tuple(_row(setting, found) for setting, found in sorted(abstentions.found.items())),
        note=(
            "By the gate: after a retrieval, P(correct) is below abstain_below of the gate's file. "
            "Not in the documents: the model wrote, after a retrieval, that it does not know, or "
            "what no passage that it read has. "
            "CRAG's score counts both as 0; every other measure compares their text."
        ),
    )
    return Section("Abstentions", (table,))


def _row(setting: str, found: Sequence[Abstention]) -> tuple[Cell, ...]:
    judged = [
        abstention.p_correct for abstention in found if abstention.reason is AbstentionReason.GATE
    ]
    mean = math.fsum(judged) / len(judged) if judged else None
    return text(setting), number(len(judged)), number(mean), number(len(found) - len(judged))
