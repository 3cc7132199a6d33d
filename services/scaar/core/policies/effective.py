"""From a policy's name, a request's overrides and a model's recommendations to what is run.

A request's own value comes first, then the model's recommendation, then the paper's.
"""

from dataclasses import replace
from typing import TypeVar

from scaar.core.errors import InvalidRequest
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import RECOMMENDED, check_policy, idle
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    EffectivePolicy,
    Formulation,
    Granularity,
    ModelDescription,
    PolicyRequest,
    RecommendedSettings,
    SettingSource,
    Truncation,
)

_T = TypeVar("_T")


def effective_policy(
    request: PolicyRequest, model: ModelDescription, *, gate_threshold: float | None = None
) -> EffectivePolicy:
    """The policy as it will be run on a model, with the source of every setting that varies.

    A trigger or query in the place of the policy's own brings its paper's settings with it.
    ``gate_threshold`` is that of the gate's file.

    Raises:
        InvalidRequest: the policy is unknown, or an override is out of its range or idle.
    """
    if wrong := check_policy(request):
        raise InvalidRequest(wrong)
    preset, asked = PRESETS[request.name], request.overrides
    found = next((each for each in model.recommended if each.policy == preset.name), None)
    found = found or RecommendedSettings(preset.name)
    sources: list[tuple[str, SettingSource]] = []

    def choose(name: str, requested: _T | None, paper: _T) -> _T:
        recommended: _T | None = getattr(found, name) if name in RECOMMENDED else None
        if name not in preset.adjustable:
            return paper
        for value, source in (
            (requested, SettingSource.REQUEST),
            (recommended, SettingSource.MODEL),
            (paper, SettingSource.PAPER),
        ):
            if value is not None:
                sources.append((name, source))
                return value
        raise AssertionError("the paper's value is never None")

    trigger = choose("trigger", asked.trigger, preset.trigger)
    if trigger is not preset.trigger:
        found = replace(found, theta=None)
    rule = TRIGGERS[trigger] if trigger is not None else None
    formulation = choose("query", asked.query, preset.query.formulation)
    with_question = (
        preset.query.include_question
        if formulation is preset.query.formulation
        else formulation is Formulation.PFQ
    )
    query = replace(
        preset.query,
        formulation=formulation,
        include_question=choose("include_question", asked.include_question, with_question),
        alpha=choose("alpha", asked.alpha, preset.query.alpha),
        word_order=choose("word_order", asked.word_order, preset.query.word_order),
        last_n_tokens=choose("last_n_tokens", asked.last_n_tokens, preset.query.last_n_tokens),
        top_words=choose("top_words", asked.top_words, preset.query.top_words),
    )
    spares = rule is not None and rule.spares_stop_words
    policy = EffectivePolicy(
        name=preset.name,
        when=preset.when,
        trigger=trigger,
        theta=choose("theta", asked.theta, rule.theta.default if rule else 0.0),
        theta_cap=choose("theta_cap", asked.theta_cap, preset.theta_cap),
        granularity=choose("granularity", asked.granularity, Granularity.WORD),
        spare_stop_words=choose("spare_stop_words", asked.spare_stop_words, spares),
        truncate=choose("truncate", asked.truncate, Truncation.SENTENCE),
        query=query,
        top_k=choose("top_k", asked.top_k, preset.top_k),
        window_tokens=choose("window_tokens", asked.window_tokens, preset.window_tokens),
        max_passages=choose("max_passages", asked.max_passages, preset.max_passages),
    )
    if asked.gate is not None:
        given = asked.gate_threshold is not None
        policy = replace(
            policy,
            gate=asked.gate,
            gate_threshold=asked.gate_threshold if given else gate_threshold,
        )
        sources.append(("gate", SettingSource.REQUEST))
        sources.append(("gate_threshold", SettingSource.REQUEST if given else SettingSource.GATE))
    without = idle(formulation, trigger)
    return replace(policy, sources=tuple(each for each in sources if each[0] not in without))
