"""The gates that were learned: the active one, and the judgements of the others.

A judgement of a gate stores its evidence, from which the judgements of a gate with the same word
statistics follow.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from record.longtail.gated_evaluation import GatedEvaluation
from record.longtail.plan import GATES
from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.core.gates.proxy import Evidence, GateProxy
from scaar.core.gates.proxy_json import proxy_from_json
from scaar.core.types import GateJudged
from scaar.evaluator.store.files import read_whole
from scaar.evaluator.studies.longtail.gece import Variant


@dataclass(frozen=True, slots=True)
class Learned:
    """A learned gate: its labels, the number in each split, and its detection on the test split."""

    proxy: GateProxy
    by: Variant
    development: int
    test: int
    precision: float | None
    auroc: float | None

    def judges(self, judged: GateJudged) -> GateJudged:
        """Return this gate's judgement of a question from the features of another gate's.

        Its ``policy`` is empty: no answer was made by it.
        """
        evidence = Evidence(**judged.features)
        probability = self.proxy.probability(evidence)
        return replace(
            judged,
            policy="",
            probability=probability,
            threshold=self.proxy.threshold,
        )


def read_gates(folders: Sequence[Path]) -> tuple[Learned, ...]:
    """Return the gates of a record.

    Raises:
        InvalidRequest: they do not count the same words.
        DataCorrupt: a file is no gate, or does not say what it was learned from; names the file.
    """
    found = tuple(_learned(each) for each in folders if each.name.startswith(GATES))
    if any(each.proxy.statistics != found[0].proxy.statistics for each in found):
        raise InvalidRequest.of("DIR", "the gates must be learned from labels by the same words")
    return found


def in_force(gates: Sequence[Learned], gated: GatedEvaluation) -> Learned:
    """Return the gate of the evaluated policies.

    Raises:
        InvalidRequest: it is none of these.
    """
    revisions = {each.gate_revision for each in gated.results.evaluation.provenance.values()}
    for each in gates:
        if revisions - {""} == {each.proxy.revision}:
            return each
    raise InvalidRequest.of("DIR", "the gate of the policies is not among the gates of the record")


def _learned(path: Path) -> Learned:
    content = read_whole(path)
    proxy = proxy_from_json(content, str(path))
    try:
        origin = json.loads(content)["learned_from"]
        return Learned(
            proxy,
            Variant(origin["labels by"]),
            development=origin["development"],
            test=origin["test"],
            precision=origin["precision on test"],
            auroc=origin["AUROC on test"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DataCorrupt(f"{path} does not say what it was learned from: {error}") from error
