"""The services and capabilities that a policy needs."""

from scaar.core.evidence import capabilities_for
from scaar.core.policies import PRESETS
from scaar.core.queries import FORMULATIONS
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    Capability,
    EffectivePolicy,
    EvidenceKind,
    ModelDescription,
    Moment,
    PolicyRequest,
)


def needs_retriever(request: PolicyRequest) -> bool:
    """Return whether the policy may retrieve, with any model."""
    return bool(PRESETS[request.name].moments)


def needs_scorer(request: PolicyRequest) -> bool:
    """Return whether the policy uses contributions, with any model."""
    preset, overrides = PRESETS[request.name], request.overrides
    return Moment.UNCERTAIN_DRAFT in preset.moments and uses_contributions(
        overrides.trigger or preset.trigger, overrides.query or preset.query.formulation
    )


def capabilities(policy: EffectivePolicy) -> frozenset[Capability]:
    """Return the capabilities that the policy needs of a generator."""
    needs = _capabilities(policy.trigger, policy.query.formulation)
    return needs if policy.gate is None else needs | {Capability.LOGPROBS}


def served_by(model: ModelDescription) -> tuple[str, ...]:
    """Return the policies that the model can serve without overrides."""
    return tuple(
        name
        for name, preset in PRESETS.items()
        if _capabilities(preset.trigger, preset.query.formulation) <= model.capabilities
    )


def evidence_of(trigger: str, formulation: str) -> frozenset[EvidenceKind]:
    """Return the evidence that the trigger and the query need."""
    return TRIGGERS[trigger].needs | FORMULATIONS[formulation].needs


def judging_evidence(policy: EffectivePolicy) -> frozenset[EvidenceKind]:
    """Return the evidence by which every draft is judged, that of its stop words included.

    The attention of a query is gathered for uncertain drafts only.
    """
    assert policy.trigger is not None
    needs = TRIGGERS[policy.trigger].needs
    if uses_contributions(policy.trigger, policy.query.formulation):
        needs |= {EvidenceKind.CONTRIBUTIONS}
    return needs | {EvidenceKind.WORD_CLASSES} if policy.spare_stop_words else needs


def uses_contributions(trigger: str | None, formulation: str) -> bool:
    """Return whether the trigger or the query uses contributions."""
    return trigger is not None and EvidenceKind.CONTRIBUTIONS in evidence_of(trigger, formulation)


def attends(formulation: str) -> bool:
    """Return whether the query uses attention."""
    return EvidenceKind.ATTENTION in FORMULATIONS[formulation].needs


def streams_attention(policy: EffectivePolicy) -> bool:
    """Return whether the policy uses the attention that drafted tokens carry."""
    if policy.trigger is None:
        return False
    by_trigger = EvidenceKind.ATTENTION in TRIGGERS[policy.trigger].needs
    query = FORMULATIONS[policy.query.formulation]
    return by_trigger or (EvidenceKind.ATTENTION in query.needs and not query.reads_again)


def _capabilities(trigger: str | None, formulation: str) -> frozenset[Capability]:
    return frozenset() if trigger is None else capabilities_for(evidence_of(trigger, formulation))
