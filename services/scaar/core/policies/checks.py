"""Checks of policy requests; each violation names the setting and its limit."""

from collections.abc import Collection
from dataclasses import replace

from scaar.core.errors import Violation, shown
from scaar.core.policies import PRESETS
from scaar.core.policies.preset import Preset
from scaar.core.policies.settings import RECOMMENDED, SETTINGS, Combination, adjustable, idle
from scaar.core.queries import FORMULATIONS
from scaar.core.triggers import TRIGGERS, learned
from scaar.core.types import (
    AttentionSpan,
    ExcludeSeen,
    Fusion,
    Moment,
    PolicyOverrides,
    PolicyRequest,
    RecommendedSettings,
    Rerank,
    SearchMode,
)


def check_policy(request: PolicyRequest, tuned: Collection[str] = ()) -> list[Violation]:
    """Return every violation of a policy request; none if it can run.

    ``tuned`` are the names of tuned policies, for the error of an unknown name.
    """
    preset = PRESETS.get(request.name)
    if preset is None:
        known = ", ".join((PRESETS.unknown(request.name), *tuned))
        return [Violation("policy.name", known)]
    overrides = request.overrides
    return (
        _unknown(preset, overrides)
        or _unknown_names(overrides)
        or [
            *_wrong_learned(request),
            *_out_of_range(preset, overrides),
            *_without_effect(preset, overrides),
        ]
    )


def is_known(request: PolicyRequest) -> bool:
    """Return whether this process has the policy, trigger, query and gate of the request."""
    return request.name in PRESETS and not _unknown_names(request.overrides)


def check_recommended(settings: RecommendedSettings) -> list[Violation]:
    """Return every violation of the settings recommended for a policy, by ``policy.setting``."""
    preset = PRESETS.get(settings.policy)
    if preset is None:
        known = ", ".join(PRESETS)
        return [Violation(settings.policy, f"there is no such policy; known: {known}")]
    given = PolicyOverrides(**{name: getattr(settings, name) for name in RECOMMENDED})
    return [
        Violation(each.field.replace("policy", preset.name, 1), each.description)
        for each in _unknown(preset, given) or _out_of_range(preset, given)
    ]


def without_idle(request: PolicyRequest) -> PolicyRequest:
    """Return the request without settings that the policy rejects or that have no effect."""
    preset, overrides = PRESETS[request.name], request.overrides
    foreign = overrides.given().keys() - adjustable(preset)
    taken = replace(overrides, **dict.fromkeys(foreign))
    without = idle(combination_of(preset, taken))
    return replace(request, overrides=replace(taken, **dict.fromkeys(without)))


def combination_of(preset: Preset, overrides: PolicyOverrides) -> Combination:
    """Return the trigger, query, gate and span of the attention in effect."""
    trigger = overrides.trigger or preset.trigger
    span = TRIGGERS[trigger].attention_span if trigger else None
    return Combination(
        trigger,
        overrides.query or preset.query.formulation,
        overrides.gate or preset.gate,
        overrides.attention_span or span or AttentionSpan.SENTENCE,
        overrides.rerank or Rerank.NONE,
    )


def _unknown(preset: Preset, overrides: PolicyOverrides) -> list[Violation]:
    accepted = adjustable(preset)
    return [
        Violation(f"policy.{name}", f"policy {preset.name} has no such setting")
        for name in overrides.given()
        if name not in accepted
    ]


def _unknown_names(overrides: PolicyOverrides) -> list[Violation]:
    return [
        Violation(f"policy.{name}", registry.unknown(str(value)))
        for name, value in overrides.given().items()
        if (registry := SETTINGS[name].registry) is not None and value not in registry
    ]


def _out_of_range(preset: Preset, overrides: PolicyOverrides) -> list[Violation]:
    wrong = []
    trigger = overrides.trigger or preset.trigger
    if overrides.theta is not None and trigger is not None:
        limit = TRIGGERS[trigger].theta
        if not limit.holds(overrides.theta):
            judging = f"trigger {trigger}" if overrides.trigger else f"policy {preset.name}"
            text = f"must be in {limit} for {judging}, not {shown(overrides.theta)}"
            wrong.append(Violation("policy.theta", text))
    for name, value in overrides.given().items():
        allowed = SETTINGS[name].limit
        if allowed is None or isinstance(value, str):
            continue
        if not allowed.holds(value):
            text = f"must be {allowed} for policy {preset.name}, not {shown(value)}"
            wrong.append(Violation(f"policy.{name}", text))
    query = overrides.query
    if query and FORMULATIONS[query].needs_draft and Moment.UNCERTAIN_DRAFT not in preset.moments:
        text = f"{query} needs a draft, and policy {preset.name} judges none"
        wrong.append(Violation("policy.query", text))
    unhelpful = overrides.exclude_seen is ExcludeSeen.UNHELPFUL
    if unhelpful and Moment.UNCERTAIN_DRAFT not in preset.moments:
        text = f"unhelpful needs judged sentences, and policy {preset.name} judges none"
        wrong.append(Violation("policy.exclude_seen", text))
    return [*wrong, *_wrong_scores(preset, overrides)]


def _wrong_scores(preset: Preset, overrides: PolicyOverrides) -> list[Violation]:
    """Return the violations of stages of a search that give other scores than the fusion needs."""
    if (overrides.fusion or preset.fusion) is Fusion.RANK:
        return []
    if FORMULATIONS[overrides.query or preset.query.formulation].fused_with is None:
        return []
    fusion = f"cannot be combined with fusion {overrides.fusion or preset.fusion}, which needs the"
    wrong = []
    if overrides.search_mode in (SearchMode.WORDS, SearchMode.HYBRID):
        wrong.append(Violation("policy.search_mode", f"{fusion} scores of vectors"))
    if overrides.rerank is Rerank.CROSS_ENCODER:
        wrong.append(Violation("policy.rerank", f"{fusion} scores of vectors"))
    return wrong


def _wrong_learned(request: PolicyRequest) -> list[Violation]:
    trigger = request.overrides.trigger
    if trigger == learned.NAME:
        # The orchestrator that has the artefact adds its parameters.
        described = bool(request.artefact) and request.learned is None
        return [] if described else learned.check_learned(request.learned)
    if request.learned is None:
        return []
    return [Violation("policy.learned", f"needs the trigger {learned.NAME}, not {trigger}")]


def _without_effect(preset: Preset, overrides: PolicyOverrides) -> list[Violation]:
    without = idle(combination_of(preset, overrides))
    return [
        Violation(f"policy.{name}", f"has no effect with {without[name]}")
        for name in overrides.given()
        if name in without
    ]
