"""The services and capabilities that a policy needs."""

from collections.abc import Collection

from scaar.core.evidence import capabilities_for
from scaar.core.gates import quco
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import combination_of
from scaar.core.queries import FORMULATIONS
from scaar.core.signals import evidence_of_signals
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    AttentionSpan,
    Capability,
    EffectivePolicy,
    EvidenceKind,
    Fusion,
    LearnedTrigger,
    ModelDescription,
    Moment,
    PolicyRequest,
    Rerank,
    SearchMode,
    SentenceFilter,
)


def needs_retriever(request: PolicyRequest) -> bool:
    """Return whether the policy may retrieve, with any model; one of a service alone may."""
    preset = PRESETS.get(request.name)
    return preset is None or bool(preset.moments)


def needs_scorer(request: PolicyRequest) -> bool:
    """Return whether the policy uses contributions, with any model; one of a service alone may."""
    preset, overrides = PRESETS.get(request.name), request.overrides
    if preset is None:
        return True
    return Moment.UNCERTAIN_DRAFT in preset.moments and uses_contributions(
        overrides.trigger or preset.trigger,
        overrides.query or preset.query.formulation,
        request.learned,
    )


def needs_sentence_filter(request: PolicyRequest) -> bool:
    """Return whether the policy filters the sentences of its passages."""
    preset = PRESETS[request.name]
    chosen = request.overrides.sentence_filter or preset.sentence_filter
    return chosen is SentenceFilter.LEARNED and bool(preset.moments)


def needs_corpus_counts(request: PolicyRequest) -> bool:
    """Return whether the policy, its gate included, decides by counts in a corpus."""
    preset = PRESETS[request.name]
    given = combination_of(preset, request.overrides)
    if given.gate == quco.NAME:
        return True
    return (
        given.trigger is not None
        and Moment.UNCERTAIN_DRAFT in preset.moments
        and counts_entities(given.trigger, request.learned)
    )


def counts_entities(trigger: str, learned: LearnedTrigger | None = None) -> bool:
    """Return whether the trigger decides by counts in a corpus."""
    return EvidenceKind.CORPUS_COUNTS in _evidence_of_trigger(trigger, learned)


def needs_cosines(request: PolicyRequest) -> bool:
    """Return whether the policy ranks passages by their cosines to two queries."""
    preset, overrides = PRESETS[request.name], request.overrides
    rule = FORMULATIONS[overrides.query or preset.query.formulation]
    by_rank = (overrides.fusion or preset.fusion) is Fusion.RANK
    return bool(preset.moments) and rule.fused_with is not None and not by_rank


def needs_search_mode(request: PolicyRequest) -> SearchMode:
    """Return the mode in which the policy searches; that of the index if it is any."""
    mode = request.overrides.search_mode
    if mode is None or not PRESETS[request.name].moments:
        return SearchMode.INDEX
    return mode


def needs_reranker(request: PolicyRequest) -> bool:
    """Return whether the policy reranks passages."""
    reranks = request.overrides.rerank is Rerank.CROSS_ENCODER
    return reranks and bool(PRESETS[request.name].moments)


def capabilities(policy: EffectivePolicy) -> frozenset[Capability]:
    """Return the capabilities that the policy needs of a generator, without those of its gate."""
    needs = _capabilities(policy.trigger, policy.query.formulation, policy.learned)
    if policy.skip_above is not None:
        needs |= {Capability.LOGPROBS}
    return needs | _capabilities_at(policy.moments)


def served_by(model: ModelDescription) -> tuple[str, ...]:
    """Return the policies that the model can serve without overrides."""
    return tuple(
        name
        for name, preset in PRESETS.items()
        if _capabilities(preset.trigger, preset.query.formulation)
        | _capabilities_at(preset.moments)
        <= model.capabilities
    )


def evidence_of(
    trigger: str, formulation: str, learned: LearnedTrigger | None = None
) -> frozenset[EvidenceKind]:
    """Return the evidence that the trigger, with its parameters, and the query need."""
    return _evidence_of_trigger(trigger, learned) | FORMULATIONS[formulation].needs


def trigger_evidence(policy: EffectivePolicy) -> frozenset[EvidenceKind]:
    """Return the evidence by which the trigger decides, that of its stop words included."""
    assert policy.trigger is not None
    needs = _evidence_of_trigger(policy.trigger, policy.learned)
    return needs | {EvidenceKind.WORD_CLASSES} if policy.spare_stop_words else needs


def judging_evidence(policy: EffectivePolicy) -> frozenset[EvidenceKind]:
    """Return the evidence that is gathered for every draft, for the trigger and for the query.

    The attention of a query is gathered for uncertain drafts only.
    """
    needs = trigger_evidence(policy)
    if uses_contributions(policy.trigger, policy.query.formulation):
        needs |= {EvidenceKind.CONTRIBUTIONS}
    return needs


def uses_contributions(
    trigger: str | None, formulation: str, learned: LearnedTrigger | None = None
) -> bool:
    """Return whether the trigger or the query uses contributions."""
    return trigger is not None and EvidenceKind.CONTRIBUTIONS in evidence_of(
        trigger, formulation, learned
    )


def attends(formulation: str) -> bool:
    """Return whether the query uses attention."""
    return EvidenceKind.ATTENTION in FORMULATIONS[formulation].needs


def streams_attention(policy: EffectivePolicy) -> bool:
    """Return whether the policy uses the attention that drafted tokens carry."""
    if policy.trigger is None or policy.attention_span is AttentionSpan.DRAFT:
        return False  # that of a whole draft is requested once the draft is written
    by_trigger = EvidenceKind.ATTENTION in TRIGGERS[policy.trigger].needs
    query = FORMULATIONS[policy.query.formulation]
    return by_trigger or (EvidenceKind.ATTENTION in query.needs and not query.reads_again)


def drafted_tokens(policy: EffectivePolicy) -> int:
    """Return the length of the draft that the trigger's attention spans; 0 for a sentence."""
    spans = policy.trigger is not None and policy.attention_span is AttentionSpan.DRAFT
    return policy.draft_tokens if spans else 0


def streamed_top_tokens(policy: EffectivePolicy) -> int:
    """Return the number of most probable tokens that every drafted token must carry."""
    needs = TRIGGERS[policy.trigger].needs if policy.trigger else ()
    return 2 if EvidenceKind.TOP_TOKENS in needs else 0


def _evidence_of_trigger(trigger: str, learned: LearnedTrigger | None) -> frozenset[EvidenceKind]:
    needs = TRIGGERS[trigger].needs
    return needs if learned is None else needs | evidence_of_signals(learned.signal_names)


def _capabilities_at(moments: Collection[Moment]) -> frozenset[Capability]:
    reflects = Moment.ON_REFLECTION in moments
    return frozenset({Capability.NAMED_TOKENS} if reflects else ())


def _capabilities(
    trigger: str | None, formulation: str, learned: LearnedTrigger | None = None
) -> frozenset[Capability]:
    if trigger is None:
        return frozenset()
    return capabilities_for(evidence_of(trigger, formulation, learned))
