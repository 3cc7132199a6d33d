"""The files that some policies and gates need."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.gates import QuestionGate, gate_without_file
from scaar.core.gates.quco import QucoGate
from scaar.core.policies import PRESETS
from scaar.core.policies.requirements import needs_corpus_counts, needs_sentence_filter
from scaar.core.ports import CorpusCounts
from scaar.core.sentence_filter.learned_filter import LearnedFilter
from scaar.core.types import PolicyRequest


@dataclass(frozen=True, slots=True)
class LoopFiles:
    """A gate, a sentence filter and the counts of a corpus; None for a file that is not set."""

    gate: QuestionGate | None = None
    sentence_filter: LearnedFilter | None = None
    corpus_counts: CorpusCounts | None = None

    @property
    def gate_revision(self) -> str:
        """The digest of the gate's file; empty without a gate."""
        return self.gate.revision if self.gate else ""

    @property
    def sentence_filter_digest(self) -> str:
        """The digest of the sentence filter; empty without one."""
        return self.sentence_filter.digest if self.sentence_filter else ""

    def missing_for(self, policy: PolicyRequest) -> tuple[str, ...]:
        """Return the settings of the files that the policy needs and that are not set."""
        lacking = {
            "gate_file": self._lack_gate(policy),
            "sentence_filter_file": self._lack_filter(policy),
            "corpus_counts_file": self._lack_counts(policy),
        }
        return tuple(name for name, lacks in lacking.items() if lacks)

    def require(self, policies: Iterable[PolicyRequest]) -> None:
        """Reject policies that need a file that is not set.

        Raises:
            CapabilityMissing: names the policy, the file, and how to make it.
        """
        for each in policies:
            if self._lack_filter(each):
                raise CapabilityMissing(
                    f"policy {each.label} needs the file of a sentence filter, and the "
                    "orchestrator has none: write one with scaar eval filter fit, and set "
                    "SCAAR_ORCHESTRATOR_SENTENCE_FILTER_FILE",
                    policy=each.label,
                    missing="sentence_filter_file",
                )
            if self._lack_counts(each):
                raise CapabilityMissing(
                    f"policy {each.label} needs a file of corpus counts, and the orchestrator has "
                    "none: write one with scaar corpus count, and set "
                    "SCAAR_ORCHESTRATOR_CORPUS_COUNTS_FILE",
                    policy=each.label,
                    missing="corpus_counts_file",
                )

    def gate_of(self, policy: PolicyRequest) -> QuestionGate | None:
        """Return the gate of a policy, if it has one: that of the file, or one without a file.

        Raises:
            CapabilityMissing: the gate needs its file.
            InvalidRequest: a router is given a threshold.
        """
        name = _gate_name(policy)
        if name is None:
            return None
        of_file = self.gate is not None and self.gate.name == name
        gate = self.gate if of_file else gate_without_file(name)
        if gate is None:
            found = f"that of {self.gate.name}" if self.gate else "none"
            raise CapabilityMissing(
                f"policy.gate {name} needs its file, and the orchestrator has {found}: "
                "set SCAAR_ORCHESTRATOR_GATE_FILE",
                policy=policy.label,
                missing="gate_file",
            )
        if gate.policies and policy.overrides.gate_threshold is not None:
            text = f"has no effect on {name}, which chooses among policies"
            raise InvalidRequest.of("policy.gate_threshold", text)
        if isinstance(gate, QucoGate):
            return replace(gate, counts=self.corpus_counts)
        return gate

    def _lack_gate(self, policy: PolicyRequest) -> bool:
        name = _gate_name(policy)
        if name is None or (self.gate is not None and self.gate.name == name):
            return False
        return gate_without_file(name) is None

    def _lack_filter(self, policy: PolicyRequest) -> bool:
        return self.sentence_filter is None and needs_sentence_filter(policy)

    def _lack_counts(self, policy: PolicyRequest) -> bool:
        return self.corpus_counts is None and needs_corpus_counts(policy)


def _gate_name(policy: PolicyRequest) -> str | None:
    return policy.overrides.gate or PRESETS[policy.name].gate
