"""Policies: on the wire a preset and overrides, in the domain a name and overrides."""

from dataclasses import fields, replace

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import EffectivePolicy, PolicyOverrides, PolicyRequest
from scaar.v1 import policy_pb2 as pb
from scaar.wire.messages.enums import (
    FORMULATION,
    GATE,
    GRANULARITY,
    SETTING_SOURCE,
    TRIGGER,
    TRUNCATION,
    WHEN,
    WORD_ORDER,
)
from scaar.wire.messages.fields import carried_int, finite, required
from scaar.wire.messages.querying import query_settings_from_pb, query_settings_to_pb

_PRESETS = [field.name for field in pb.Policy.DESCRIPTOR.oneofs_by_name["preset"].fields]


def policy_request_to_pb(request: PolicyRequest) -> pb.Policy:
    """The policy, all its settings among the overrides."""
    if request.name not in _PRESETS:
        text = f"there is no policy {request.name!r}; known: {', '.join(_PRESETS)}"
        raise InvalidRequest.of("policy.name", text)
    policy = pb.Policy(overrides=_overrides_to_pb(request.overrides))
    getattr(policy, request.name).SetInParent()
    return policy


def policy_request_from_pb(message: pb.Policy) -> PolicyRequest:
    """The policy, scaar where none is named.

    Raises:
        InvalidRequest: a setting is given twice and differs, or is none.
    """
    overrides = _overrides_from_pb(message.overrides)
    name = message.WhichOneof("preset")
    if name is None:
        return PolicyRequest(overrides=overrides)
    # The settings of a preset go by the names of the overrides.
    given = {field.name: value for field, value in getattr(message, name).ListFields()}
    return PolicyRequest(name, _merged(PolicyOverrides(**given), overrides))


def _merged(preset: PolicyOverrides, overrides: PolicyOverrides) -> PolicyOverrides:
    """The overrides with what the preset gives; both may give the same."""
    given = {
        field.name: value
        for field in fields(preset)
        if (value := getattr(preset, field.name)) is not None
    }
    wrong = []
    for name, value in given.items():
        if isinstance(value, float):
            finite(f"policy.{name}", value)
        again = getattr(overrides, name)
        if again is not None and again != value:
            text = f"is given twice, {value} by the preset and {again} by the overrides"
            wrong.append(Violation(f"policy.{name}", text))
    if wrong:
        raise InvalidRequest(wrong)
    return replace(overrides, **given)


def _overrides_to_pb(overrides: PolicyOverrides) -> pb.PolicyOverrides:
    window, most = overrides.window_tokens, overrides.max_passages
    tokens, top_k = overrides.last_n_tokens, overrides.top_k
    words, query, order = overrides.top_words, overrides.query, overrides.word_order
    trigger, granularity, cut = overrides.trigger, overrides.granularity, overrides.truncate
    return pb.PolicyOverrides(
        query=None if query is None else FORMULATION.to_pb(query),
        alpha=overrides.alpha,
        include_question=overrides.include_question,
        word_order=None if order is None else WORD_ORDER.to_pb(order),
        last_n_tokens=None if tokens is None else carried_int("policy.last_n_tokens", tokens),
        top_k=None if top_k is None else carried_int("policy.top_k", top_k),
        theta=overrides.theta,
        theta_cap=overrides.theta_cap,
        trigger=None if trigger is None else TRIGGER.to_pb(trigger),
        granularity=None if granularity is None else GRANULARITY.to_pb(granularity),
        spare_stop_words=overrides.spare_stop_words,
        truncate=None if cut is None else TRUNCATION.to_pb(cut),
        top_words=None if words is None else carried_int("policy.top_words", words),
        window_tokens=None if window is None else carried_int("policy.window_tokens", window),
        max_passages=None if most is None else carried_int("policy.max_passages", most),
        gate=None if overrides.gate is None else GATE.to_pb(overrides.gate),
        gate_threshold=overrides.gate_threshold,
    )


def _overrides_from_pb(message: pb.PolicyOverrides) -> PolicyOverrides:
    query = order = trigger = granularity = truncate = gate = None
    if message.HasField("query"):
        query = FORMULATION.from_pb(message.query, "policy.query")
    if message.HasField("word_order"):
        order = WORD_ORDER.from_pb(message.word_order, "policy.word_order")
    if message.HasField("trigger"):
        trigger = TRIGGER.from_pb(message.trigger, "policy.trigger")
    if message.HasField("truncate"):
        truncate = TRUNCATION.from_pb(message.truncate, "policy.truncate")
    if message.HasField("gate"):
        gate = GATE.from_pb(message.gate, "policy.gate")
    if message.HasField("granularity"):
        granularity = GRANULARITY.from_pb(message.granularity, "policy.granularity")
    return PolicyOverrides(
        theta=finite("policy.theta", message.theta) if message.HasField("theta") else None,
        theta_cap=(
            finite("policy.theta_cap", message.theta_cap) if message.HasField("theta_cap") else None
        ),
        trigger=trigger,
        granularity=granularity,
        truncate=truncate,
        spare_stop_words=(
            message.spare_stop_words if message.HasField("spare_stop_words") else None
        ),
        top_words=message.top_words if message.HasField("top_words") else None,
        query=query,
        alpha=finite("policy.alpha", message.alpha) if message.HasField("alpha") else None,
        include_question=(
            message.include_question if message.HasField("include_question") else None
        ),
        word_order=order,
        last_n_tokens=message.last_n_tokens if message.HasField("last_n_tokens") else None,
        top_k=message.top_k if message.HasField("top_k") else None,
        window_tokens=message.window_tokens if message.HasField("window_tokens") else None,
        max_passages=message.max_passages if message.HasField("max_passages") else None,
        gate=gate,
        gate_threshold=(
            finite("policy.gate_threshold", message.gate_threshold)
            if message.HasField("gate_threshold")
            else None
        ),
    )


def effective_policy_to_pb(policy: EffectivePolicy) -> pb.EffectivePolicy:
    return pb.EffectivePolicy(
        name=policy.name,
        when=WHEN.to_pb(policy.when),
        trigger=(
            pb.TRIGGER_UNSPECIFIED if policy.trigger is None else TRIGGER.to_pb(policy.trigger)
        ),
        granularity=GRANULARITY.to_pb(policy.granularity),
        spare_stop_words=policy.spare_stop_words,
        truncate=TRUNCATION.to_pb(policy.truncate),
        theta=policy.theta,
        theta_cap=policy.theta_cap,
        query=query_settings_to_pb(policy.query),
        top_k=policy.top_k,
        sources=[
            pb.SettingOrigin(setting=setting, source=SETTING_SOURCE.to_pb(source))
            for setting, source in policy.sources
        ],
        window_tokens=policy.window_tokens,
        max_passages=policy.max_passages,
        gate=pb.GATE_UNSPECIFIED if policy.gate is None else GATE.to_pb(policy.gate),
        gate_threshold=policy.gate_threshold,
    )


def effective_policy_from_pb(message: pb.EffectivePolicy) -> EffectivePolicy:
    required("policy.query", message.HasField("query"))
    return EffectivePolicy(
        name=message.name,
        when=WHEN.from_pb(message.when, "policy.when"),
        trigger=TRIGGER.from_pb(message.trigger, "policy.trigger") if message.trigger else None,
        granularity=GRANULARITY.from_pb(message.granularity, "policy.granularity"),
        spare_stop_words=message.spare_stop_words,
        truncate=TRUNCATION.from_pb(message.truncate, "policy.truncate"),
        theta=finite("policy.theta", message.theta),
        theta_cap=finite("policy.theta_cap", message.theta_cap),
        query=query_settings_from_pb(message.query, "policy.query"),
        top_k=message.top_k,
        sources=tuple(
            (each.setting, SETTING_SOURCE.from_pb(each.source, "policy.sources"))
            for each in message.sources
        ),
        window_tokens=message.window_tokens,
        max_passages=message.max_passages,
        gate=GATE.from_pb(message.gate, "policy.gate") if message.gate else None,
        gate_threshold=(
            finite("policy.gate_threshold", message.gate_threshold)
            if message.HasField("gate_threshold")
            else None
        ),
    )
