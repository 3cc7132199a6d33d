"""Policies: on the wire a preset and overrides, in the domain a name and overrides."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import PolicyOverrides, PolicyRequest
from scaar.v1 import policy_pb2 as pb
from scaar.wire.messages.fields import check_carried, finite

_NAMED = "name"
_PRESETS = {field.name for field in pb.Policy.DESCRIPTOR.oneofs_by_name["preset"].fields} - {_NAMED}


def policy_to_fields(
    write_overrides: Callable[[PolicyOverrides], dict[str, Any]], request: PolicyRequest
) -> dict[str, Any]:
    """Return the keyword arguments of ``Policy``, with all settings in the overrides.

    A policy without a message of its own goes by its name.
    """
    overrides = write_overrides(request.overrides)
    # A setting goes by its name alone, whether the preset or the overrides contain it.
    check_carried(overrides, pb.PolicyOverrides)
    given = {"overrides": overrides, "allow_mismatch": request.allow_mismatch}
    if not request.label:
        return given
    if request.label in _PRESETS:
        return {request.label: {}, **given}
    return {_NAMED: request.label, **given}


def policy_from_pb(
    read_overrides: Callable[[pb.PolicyOverrides], PolicyOverrides], message: pb.Policy
) -> PolicyRequest:
    """Return the policy; its name is empty if the message has none.

    Raises:
        InvalidRequest: a setting is given twice and differs, or is invalid.
    """
    overrides = read_overrides(message.overrides)
    request = PolicyRequest("", overrides, allow_mismatch=message.allow_mismatch)
    name = message.WhichOneof("preset")
    if name is None:
        return request
    if name == _NAMED:
        return replace(request, name=message.name)
    # The settings of a preset go by the names of the overrides.
    given = {field.name: value for field, value in getattr(message, name).ListFields()}
    merged = _merged(PolicyOverrides(**given), overrides)
    return replace(request, name=name, overrides=merged)


def _merged(preset: PolicyOverrides, overrides: PolicyOverrides) -> PolicyOverrides:
    """Return the overrides merged with the settings of the preset; equal values may be in both."""
    given = {
        field.name: value
        for field in fields(preset)
        if (value := getattr(preset, field.name)) is not None
    }
    wrong = []
    for name, value in given.items():
        if isinstance(value, float):
            finite(name, value)
        again = getattr(overrides, name)
        if again is not None and again != value:
            text = f"is given twice, {value} by the preset and {again} by the overrides"
            wrong.append(Violation(name, text))
    if wrong:
        raise InvalidRequest(wrong)
    return replace(overrides, **given)
