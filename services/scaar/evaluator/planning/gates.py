"""The gate as an axis of an evaluation: the same policies without and with a gate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scaar.core.errors import InvalidRequest
from scaar.core.gates import GATES, ROUTERS
from scaar.core.policies import PRESETS
from scaar.core.policies.requirements import needs_retriever
from scaar.core.policies.single_round import SINGLE_ROUND
from scaar.core.types import PolicyOverrides, PolicyRequest
from scaar.evaluator.planning.settings import setting_of
from scaar.evaluator.records import Setting


@dataclass(frozen=True, slots=True)
class Gating:
    """A gate and its threshold; None is the threshold of its file."""

    gate: str
    threshold: float | None = None


def with_gates(settings: Sequence[Setting], gates: Sequence[Gating]) -> tuple[Setting, ...]:
    """Return each setting without a gate and, if its policy retrieves, with each of the gates.

    A gate that a policy has by itself is left out for it. A router is a setting of its own, since
    it chooses among policies of its own.

    Raises:
        InvalidRequest: no policy retrieves, a gate is that of every policy that does, or a setting
            already has a gate.
    """
    routers = [each.gate for each in gates if each.gate in ROUTERS]
    gates = [each for each in gates if each.gate not in ROUTERS]
    if gates and not any(needs_retriever(each.policy) for each in settings):
        names = ", ".join(dict.fromkeys(each.policy.name for each in settings))
        raise InvalidRequest.of("gates", f"has no effect on {names}: none retrieves")
    if (gates or routers) and any(each.policy.overrides.gate is not None for each in settings):
        raise InvalidRequest.of("gates", "cannot be combined with the setting gate")
    for gate in gates:
        if not any(_gated(each, [gate]) for each in settings):
            names = ", ".join(dict.fromkeys(each.policy.name for each in settings))
            text = f"{gate.gate} has no effect on {names}: policies that retrieve have it already"
            raise InvalidRequest.of("gates", text)
    return (
        *(found for each in settings for found in (each, *_gated(each, gates))),
        *(
            setting_of(PolicyRequest(SINGLE_ROUND.name, PolicyOverrides(gate=each)))
            for each in routers
        ),
    )


def gates_named(names: Sequence[str]) -> tuple[Gating, ...]:
    """Return the gates of these names, each ``NAME`` or ``NAME:THRESHOLD``.

    Raises:
        InvalidRequest: a name is unknown or given twice, or a threshold is no number in (0, 1].
    """
    found: list[Gating] = []
    for name in names:
        gating = _named(name)
        if gating in found:
            raise InvalidRequest.of("gates", f"{name} is given twice")
        found.append(gating)
    return tuple(found)


def _gated(setting: Setting, gates: Sequence[Gating]) -> list[Setting]:
    if not needs_retriever(setting.policy):
        return []
    policy, overrides = setting.policy, setting.policy.overrides
    preset = PRESETS.get(policy.name)
    own = Gating(preset.gate, overrides.gate_threshold) if preset and preset.gate else None
    behind = (
        replace(overrides, gate=each.gate, gate_threshold=each.threshold)
        for each in gates
        if each != own
    )
    return [
        setting_of(replace(policy, overrides=each), setting.scorer, setting.index)
        for each in behind
    ]


def _named(text: str) -> Gating:
    name, colon, number = text.partition(":")
    if name not in GATES:
        raise InvalidRequest.of("gates", GATES.unknown(name))
    if not colon:
        return Gating(name)
    if name in ROUTERS:
        raise InvalidRequest.of("gates", f"{name} has no threshold: it chooses among policies")
    try:
        threshold = float(number)
    except ValueError:
        threshold = 0.0
    if not 0 < threshold <= 1:
        text = f"the threshold of {name} must be a number in (0, 1], not {number!r}"
        raise InvalidRequest.of("gates", text)
    return Gating(name, threshold)
