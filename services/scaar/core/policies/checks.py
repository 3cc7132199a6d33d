"""What is wrong with a policy request, each setting named with its limit."""

from dataclasses import fields, replace

from scaar.core.errors import Violation
from scaar.core.policies import PRESETS
from scaar.core.policies.needs import attends
from scaar.core.policies.preset import Preset
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    Formulation,
    PolicyOverrides,
    PolicyRequest,
    RecommendedSettings,
    Trigger,
    When,
)

RECOMMENDED = ("theta", "alpha", "top_k")
"""The settings that a model may carry values for."""

MAX_TOP_K = 100
MAX_TOP_WORDS = 256
MAX_LAST_N_TOKENS = 1024
MAX_WINDOW_TOKENS = 1024
MAX_PASSAGES = 100

_NEED_A_DRAFT = (
    Formulation.CURRENT_SENTENCE,
    Formulation.CONTENT_WORDS,
    Formulation.PFQ,
    Formulation.ATTENTION,
    Formulation.ATTENTION_REFERENCE,
)
_FRACTIONS = {"theta_cap": 1, "alpha": 100, "gate_threshold": 1}
_COUNTS = {
    "top_k": MAX_TOP_K,
    "top_words": MAX_TOP_WORDS,
    "last_n_tokens": MAX_LAST_N_TOKENS,
    "window_tokens": MAX_WINDOW_TOKENS,
    "max_passages": MAX_PASSAGES,
}


def check_policy(request: PolicyRequest) -> list[Violation]:
    """Everything wrong with a policy request; nothing if it can be run."""
    preset = PRESETS.get(request.name)
    if preset is None:
        known = ", ".join(PRESETS)
        return [Violation("policy.name", f"there is no policy {request.name!r}; known: {known}")]
    overrides = request.overrides
    wrong = [
        Violation(f"policy.{name}", f"policy {preset.name} has no such setting")
        for name in _given(overrides)
        if name not in preset.adjustable
    ]
    return wrong or [*_out_of_range(preset, overrides), *_without_effect(preset, overrides)]


def check_recommended(settings: RecommendedSettings) -> list[Violation]:
    """Everything wrong with what is recommended for a policy, by ``policy.setting``."""
    preset = PRESETS.get(settings.policy)
    if preset is None:
        known = ", ".join(PRESETS)
        return [Violation(settings.policy, f"there is no such policy; known: {known}")]
    given = PolicyOverrides(**{name: getattr(settings, name) for name in RECOMMENDED})
    wrong = [
        Violation(f"policy.{name}", f"policy {preset.name} has no such setting")
        for name in _given(given)
        if name not in preset.adjustable
    ]
    return [
        Violation(each.field.replace("policy", preset.name, 1), each.description)
        for each in wrong or _out_of_range(preset, given)
    ]


def without_idle(request: PolicyRequest) -> PolicyRequest:
    """The request without the settings that its policy does not take or that have no effect."""
    preset, asked = PRESETS[request.name], request.overrides
    foreign: set[str] = set(_given(asked)) - preset.adjustable
    taken = replace(asked, **dict.fromkeys(foreign))
    without = idle(taken.query or preset.query.formulation, taken.trigger or preset.trigger)
    if taken.gate is None:
        without = {**without, "gate_threshold": "no gate"}
    return replace(request, overrides=replace(taken, **dict.fromkeys(without)))


def idle(formulation: Formulation, trigger: Trigger | None) -> dict[str, str]:
    """The settings that mean nothing to this query and trigger, and which of the two it is."""
    found = {}
    if trigger is not None:
        rule = TRIGGERS[trigger]
        if trigger is not Trigger.EXP_RAW:
            found["theta_cap"] = f"trigger {trigger}"
        if not rule.by_word:
            found["granularity"] = f"trigger {trigger}"
        if not rule.by_word or rule.uses_classes:
            found["spare_stop_words"] = f"trigger {trigger}"
    if formulation is not Formulation.PFQ:
        found |= {"alpha": f"query {formulation}", "word_order": f"query {formulation}"}
    if formulation is not Formulation.LAST_N_TOKENS:
        found["last_n_tokens"] = f"query {formulation}"
    if not attends(formulation):
        found["top_words"] = f"query {formulation}"
    if formulation is Formulation.QUESTION:
        found["include_question"] = f"query {formulation}"
    return found


def _given(overrides: PolicyOverrides) -> list[str]:
    return [each.name for each in fields(overrides) if getattr(overrides, each.name) is not None]


def _out_of_range(preset: Preset, asked: PolicyOverrides) -> list[Violation]:
    wrong = []
    trigger = asked.trigger or preset.trigger
    if asked.theta is not None and trigger is not None:
        limit = TRIGGERS[trigger].theta
        if not limit.holds(asked.theta):
            judging = f"trigger {trigger}" if asked.trigger else f"policy {preset.name}"
            text = f"must be in {limit} for {judging}, not {asked.theta:g}"
            wrong.append(Violation("policy.theta", text))
    for name, most in (_FRACTIONS | _COUNTS).items():
        value = getattr(asked, name)
        if value is None:
            continue
        fits = 0 < value <= most if name in _FRACTIONS else 1 <= value <= most
        limits = f"in (0, {most}]" if name in _FRACTIONS else f"1 to {most}"
        if not fits:
            text = f"must be {limits} for policy {preset.name}, not {value:g}"
            wrong.append(Violation(f"policy.{name}", text))
    if asked.query in _NEED_A_DRAFT and preset.when is not When.UNCERTAIN_DRAFT:
        text = f"{asked.query} asks with a draft, and policy {preset.name} writes none"
        wrong.append(Violation("policy.query", text))
    return wrong


def _without_effect(preset: Preset, asked: PolicyOverrides) -> list[Violation]:
    without = idle(asked.query or preset.query.formulation, asked.trigger or preset.trigger)
    if asked.gate is None:
        without["gate_threshold"] = "no gate"
    return [
        Violation(f"policy.{name}", f"has no effect with {without[name]}")
        for name in _given(asked)
        if name in without
    ]
