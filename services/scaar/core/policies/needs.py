"""What a policy needs of the parts that serve it."""

from scaar.core.policies import PRESETS
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    Capability,
    EffectivePolicy,
    Formulation,
    ModelDescription,
    PolicyRequest,
    Trigger,
    When,
)


def needs_retriever(request: PolicyRequest) -> bool:
    """Whether the policy may retrieve, whatever the model."""
    return PRESETS[request.name].when is not When.NEVER


def needs_scorer(request: PolicyRequest) -> bool:
    """Whether the policy asks for contributions, whatever the model."""
    preset, asked = PRESETS[request.name], request.overrides
    return preset.when is When.UNCERTAIN_DRAFT and uses_contributions(
        asked.trigger or preset.trigger, asked.query or preset.query.formulation
    )


def capabilities(policy: EffectivePolicy) -> frozenset[Capability]:
    """What a generator must give to serve the policy."""
    needs = _capabilities(policy.trigger, policy.query.formulation)
    return needs if policy.gate is None else needs | {Capability.LOGPROBS}


def served_by(model: ModelDescription) -> tuple[str, ...]:
    """The policies that the model can serve as they are."""
    return tuple(
        name
        for name, preset in PRESETS.items()
        if _capabilities(preset.trigger, preset.query.formulation) <= model.capabilities
    )


def uses_contributions(trigger: Trigger | None, formulation: Formulation) -> bool:
    """Whether trigger or query go by the words' contributions."""
    by_trigger = trigger is not None and TRIGGERS[trigger].uses_contributions
    return by_trigger or formulation is Formulation.PFQ


def uses_classes(policy: EffectivePolicy) -> bool:
    """Whether the trigger goes by what a word does in its sentence."""
    by_trigger = policy.trigger is not None and TRIGGERS[policy.trigger].uses_classes
    return by_trigger or policy.spare_stop_words


def attends(formulation: Formulation) -> bool:
    """Whether the query asks by attention."""
    return formulation in (Formulation.ATTENTION, Formulation.ATTENTION_REFERENCE)


def _capabilities(trigger: Trigger | None, formulation: Formulation) -> frozenset[Capability]:
    if trigger is None:
        return frozenset()
    needs = TRIGGERS[trigger].needs
    return needs | {Capability.ATTENTION} if attends(formulation) else needs


def streams_attention(policy: EffectivePolicy) -> bool:
    """Whether the attention of drafts in their prompts is used, which comes with their tokens."""
    if policy.trigger is None:
        return False
    rule = TRIGGERS[policy.trigger]
    by_trigger = rule.uses_attention and not rule.alone
    return by_trigger or policy.query.formulation is Formulation.ATTENTION
