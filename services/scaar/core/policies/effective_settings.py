"""The settings of a policy in effect, from the request, the model and the defaults.

A request's own value comes first, then the model's recommendation, then the default, which is the
paper's or the project's own (:mod:`scaar.core.policies.settings`).
"""

from dataclasses import fields, replace
from typing import Any

from scaar.core.policies import PRESETS
from scaar.core.policies.checks import combination_of
from scaar.core.policies.preset import Preset
from scaar.core.policies.settings import SETTINGS, adjustable, idle
from scaar.core.prompts import PROFILES
from scaar.core.types import (
    EffectivePolicy,
    ModelDescription,
    PolicyRequest,
    QuerySettings,
    RecommendedSettings,
    SettingSource,
)

_QUERY_SETTINGS = SETTINGS.keys() & {each.name for each in fields(QuerySettings)}


def effective_policy(
    request: PolicyRequest, model: ModelDescription, *, gate_threshold: float | None = None
) -> EffectivePolicy:
    """Return the policy as it is run on a model, with the source of every setting that varies.

    A trigger or query in place of the policy's own has the defaults of its own paper, and a trigger
    the theta that the model recommends for it. ``gate_threshold`` is that of the gate.
    The request must be valid (:func:`~scaar.core.policies.checks.check_policy`).
    """
    preset, overrides = PRESETS[request.name], request.overrides
    given = combination_of(preset, overrides)
    accepted, without = adjustable(preset), idle(given)
    recommended = _recommended(model, preset, given.trigger)
    values: dict[str, Any] = {}
    sources: list[tuple[str, SettingSource]] = []
    for name, setting in SETTINGS.items():
        by_model = getattr(recommended, name) if setting.recommendable else None
        by_gate = gate_threshold if name == "gate_threshold" else None
        if name == "judge_conclusion" and _is_trained_to_conclude(model):
            by_model = False
        choices = (
            (getattr(overrides, name), SettingSource.REQUEST),
            (by_model, SettingSource.MODEL),
            (by_gate, SettingSource.GATE),
        )
        chosen = [each for each in choices if each[0] is not None and name in accepted]
        values[name] = chosen[0][0] if chosen else setting.default(preset, given)
        if name in accepted and name not in without and (chosen or setting.origins):
            source = chosen[0][1] if chosen else setting.source(preset.name, given)
            sources.append((name, source))
    formulation = values.pop("query")
    of_query = {each: values.pop(each) for each in _QUERY_SETTINGS}
    return EffectivePolicy(
        name=preset.name,
        moments=preset.moments,
        query=replace(preset.query, formulation=formulation, **of_query),
        sources=tuple(sources),
        learned=request.learned,
        **values,
    )


def _is_trained_to_conclude(model: ModelDescription) -> bool:
    """Return whether a conclusion of the model only repeats what the text before it states."""
    trained = (profile for profile in PROFILES.values() if profile.trained_to_conclude)
    return any(model.prompt_profile in (profile.name, profile.label) for profile in trained)


def _recommended(
    model: ModelDescription, preset: Preset, trigger: str | None
) -> RecommendedSettings:
    """The model's settings for a policy, with the theta that it recommends for the trigger."""
    by_policy = {each.policy: each for each in model.recommended}
    own = by_policy.get(preset.name, RecommendedSettings(preset.name))
    if trigger == preset.trigger:
        return own
    others = (by_policy.get(each.name) for each in PRESETS.values() if each.trigger == trigger)
    thetas = (each.theta for each in others if each is not None)
    return replace(own, theta=next(thetas, None))
