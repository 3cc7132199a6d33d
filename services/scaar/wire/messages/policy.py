"""Policies: on the wire a preset and overrides, in the domain a name and overrides."""

from dataclasses import fields, replace

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import EffectivePolicy, PolicyOverrides, PolicyRequest
from scaar.v1 import policy_pb2 as pb
from scaar.wire.messages.enums import FORMULATION, SETTING_SOURCE, WEIGHTING, WHEN, WORD_ORDER
from scaar.wire.messages.fields import carried_int, finite, required
from scaar.wire.messages.querying import query_settings_from_pb, query_settings_to_pb


def policy_request_to_pb(request: PolicyRequest) -> pb.Policy:
    """The policy, all its settings among the overrides."""
    overrides = _overrides_to_pb(request.overrides)
    match request.name:
        case "no_retrieval":
            return pb.Policy(no_retrieval=pb.NoRetrievalPolicy(), overrides=overrides)
        case "single_round":
            return pb.Policy(single_round=pb.SingleRoundPolicy(), overrides=overrides)
        case "fixed_length":
            return pb.Policy(fixed_length=pb.FixedLengthPolicy(), overrides=overrides)
        case "fixed_sentence":
            return pb.Policy(fixed_sentence=pb.FixedSentencePolicy(), overrides=overrides)
        case "ircot":
            return pb.Policy(ircot=pb.IrcotPolicy(), overrides=overrides)
        case "flare":
            return pb.Policy(flare=pb.FlarePolicy(), overrides=overrides)
        case "scaar":
            return pb.Policy(scaar=pb.ScaarPolicy(), overrides=overrides)
        case name:
            known = ", ".join(field.name for field in pb.Policy.DESCRIPTOR.oneofs[0].fields)
            text = f"there is no policy {name!r}; known: {known}"
            raise InvalidRequest.of("policy.name", text)


def policy_request_from_pb(message: pb.Policy) -> PolicyRequest:
    """The policy, scaar where none is named.

    Raises:
        InvalidRequest: a setting is given twice and differs, or is none.
    """
    overrides = _overrides_from_pb(message.overrides)
    match message.WhichOneof("preset"):
        case "flare":
            theta = message.flare.theta if message.flare.HasField("theta") else None
            return PolicyRequest("flare", _merged(PolicyOverrides(theta=theta), overrides))
        case "scaar":
            return PolicyRequest("scaar", _merged(_scaar_from_pb(message.scaar), overrides))
        case "fixed_length":
            window = message.fixed_length
            tokens = window.window_tokens if window.HasField("window_tokens") else None
            given = PolicyOverrides(window_tokens=tokens)
            return PolicyRequest("fixed_length", _merged(given, overrides))
        case "ircot":
            most = message.ircot.max_passages if message.ircot.HasField("max_passages") else None
            return PolicyRequest("ircot", _merged(PolicyOverrides(max_passages=most), overrides))
        case None:
            return PolicyRequest(overrides=overrides)
        case name:
            return PolicyRequest(name, overrides)


def _scaar_from_pb(message: pb.ScaarPolicy) -> PolicyOverrides:
    weighting = None
    if message.HasField("weighting"):
        weighting = WEIGHTING.from_pb(message.weighting, "policy.weighting")
    return PolicyOverrides(
        theta=message.theta if message.HasField("theta") else None,
        theta_cap=message.theta_cap if message.HasField("theta_cap") else None,
        weighting=weighting,
        alpha=message.alpha if message.HasField("alpha") else None,
    )


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
    query, order, weighting = overrides.query, overrides.word_order, overrides.weighting
    return pb.PolicyOverrides(
        query=None if query is None else FORMULATION.to_pb(query),
        alpha=overrides.alpha,
        include_question=overrides.include_question,
        word_order=None if order is None else WORD_ORDER.to_pb(order),
        last_n_tokens=None if tokens is None else carried_int("policy.last_n_tokens", tokens),
        top_k=None if top_k is None else carried_int("policy.top_k", top_k),
        theta=overrides.theta,
        theta_cap=overrides.theta_cap,
        weighting=None if weighting is None else WEIGHTING.to_pb(weighting),
        window_tokens=None if window is None else carried_int("policy.window_tokens", window),
        max_passages=None if most is None else carried_int("policy.max_passages", most),
    )


def _overrides_from_pb(message: pb.PolicyOverrides) -> PolicyOverrides:
    query = order = weighting = None
    if message.HasField("query"):
        query = FORMULATION.from_pb(message.query, "policy.query")
    if message.HasField("word_order"):
        order = WORD_ORDER.from_pb(message.word_order, "policy.word_order")
    if message.HasField("weighting"):
        weighting = WEIGHTING.from_pb(message.weighting, "policy.weighting")
    return PolicyOverrides(
        theta=finite("policy.theta", message.theta) if message.HasField("theta") else None,
        theta_cap=(
            finite("policy.theta_cap", message.theta_cap) if message.HasField("theta_cap") else None
        ),
        weighting=weighting,
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
    )


def effective_policy_to_pb(policy: EffectivePolicy) -> pb.EffectivePolicy:
    return pb.EffectivePolicy(
        name=policy.name,
        when=WHEN.to_pb(policy.when),
        weighting=WEIGHTING.to_pb(policy.weighting),
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
    )


def effective_policy_from_pb(message: pb.EffectivePolicy) -> EffectivePolicy:
    required("policy.query", message.HasField("query"))
    return EffectivePolicy(
        name=message.name,
        when=WHEN.from_pb(message.when, "policy.when"),
        weighting=WEIGHTING.from_pb(message.weighting, "policy.weighting"),
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
    )
