"""Abstentions: answers that are probably wrong, according to their gate."""

import math
from collections import defaultdict
from dataclasses import dataclass, field

from scaar.evaluator.records import Prediction
from scaar.evaluator.report.cells import number, text
from scaar.evaluator.report.model import Column, Section, Table


@dataclass(slots=True)
class AbstentionCount:
    """Collects the P(correct) of the answers that abstain, by setting."""

    found: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, prediction: Prediction) -> None:
        """Count a prediction if its answer abstains."""
        if prediction.abstained is not None:
            self.found[prediction.setting].append(prediction.abstained.p_correct)


def report_abstentions(abstentions: AbstentionCount) -> Section | None:
    """Return the number of abstentions of each setting; None if there are none."""
    if not abstentions.found:
        return None
    table = Table(
        "abstentions",
        "Answers that abstain",
        (
            Column("setting", "setting"),
            Column("abstained", "answers", decimals=0),
            Column("p_correct", "mean P(correct)", decimals=3),
        ),
        tuple(
            (text(setting), number(len(found)), number(math.fsum(found) / len(found)))
            for setting, found in sorted(abstentions.found.items())
        ),
        note=(
            "After a retrieval, their P(correct) is below abstain_below of the gate's file. CRAG's "
            "score counts them as 0; every other measure compares their text."
        ),
    )
    return Section("Abstentions", (table,))
