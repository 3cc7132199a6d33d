"""The gates that were learned: the one that policies stand behind, and what the others would say.

What a gate goes by is kept with each of its judgements, so that those of a gate that counts the
same words follow from them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from record.longtail.measured import Gated
from record.longtail.plan import GATES
from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.core.gates.proxy import Evidence, GateProxy
from scaar.core.gates.proxy_json import proxy_from_json
from scaar.core.types import GateJudged
from scaar.evaluator.longtail.gece import Variant
from scaar.evaluator.store.files import read_whole


@dataclass(frozen=True, slots=True)
class Learned:
    """A gate, whose labels it was learned from, of how many, and what it finds of the others'."""

    proxy: GateProxy
    by: Variant
    development: int
    test: int
    precision: float | None
    auroc: float | None

    def judges(self, judged: GateJudged) -> GateJudged:
        """What this gate says of a question, by what another went by."""
        evidence = Evidence(judged.average_frequency, judged.rarest_frequency, judged.confidence)
        probability = self.proxy.probability(evidence)
        return replace(
            judged,
            long_tail=probability >= self.proxy.threshold,
            probability=probability,
            threshold=self.proxy.threshold,
        )


def read_gates(folders: Sequence[Path]) -> tuple[Learned, ...]:
    """The gates among what a record holds.

    Raises:
        InvalidRequest: they do not count the same words.
        DataCorrupt: naming the file that is no gate's or does not tell what it was learned from.
    """
    found = tuple(_learned(each) for each in folders if each.name.startswith(GATES))
    if any(each.proxy.statistics != found[0].proxy.statistics for each in found):
        raise InvalidRequest.of("DIR", "the gates must be learned from labels by the same words")
    return found


def in_force(gates: Sequence[Learned], gated: Gated) -> Learned:
    """The gate that policies stand behind.

    Raises:
        InvalidRequest: it is none of these.
    """
    behind = {each.gate_revision for each in gated.results.evaluation.provenance.values()}
    for each in gates:
        if behind - {""} == {each.proxy.revision}:
            return each
    raise InvalidRequest.of("DIR", "policies stand behind a gate that is none of the record's")


def _learned(path: Path) -> Learned:
    content = read_whole(path)
    proxy = proxy_from_json(content, str(path))
    try:
        told = json.loads(content)["learned_from"]
        return Learned(
            proxy,
            Variant(told["labels by"]),
            development=told["development"],
            test=told["test"],
            precision=told["precision on test"],
            auroc=told["AUROC on test"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DataCorrupt(f"{path} does not tell what it was learned from: {error}") from error
