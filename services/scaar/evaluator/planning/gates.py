"""The gate as an axis of an evaluation: the same policies, without it and with it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scaar.core.errors import InvalidRequest
from scaar.core.policies.needs import needs_retriever
from scaar.core.types import Gate
from scaar.evaluator.planning.settings import setting_of
from scaar.evaluator.records import Setting


@dataclass(frozen=True, slots=True)
class Gating:
    """A gate, and the threshold that it judges by; None is that of its file."""

    gate: Gate
    threshold: float | None = None


def with_gates(settings: Sequence[Setting], gates: Sequence[Gating]) -> tuple[Setting, ...]:
    """Each setting as it is and, where its policy retrieves, behind each of the gates.

    Raises:
        InvalidRequest: gates are named and no policy retrieves, or a setting has one already.
    """
    if not gates:
        return tuple(settings)
    if not any(needs_retriever(each.policy) for each in settings):
        names = ", ".join(dict.fromkeys(each.policy.name for each in settings))
        raise InvalidRequest.of("--gate", f"means nothing to {names}: none retrieves")
    if any(each.policy.overrides.gate is not None for each in settings):
        raise InvalidRequest.of("--gate", "is what --set gate gives already")
    return tuple(found for each in settings for found in (each, *_gated(each, gates)))


def gates_named(names: Sequence[str]) -> tuple[Gating, ...]:
    """The gates of these names, each ``NAME`` or ``NAME:THRESHOLD``.

    Raises:
        InvalidRequest: a name is none, a threshold is no number in (0, 1], or one is given twice.
    """
    found: list[Gating] = []
    for name in names:
        gating = _named(name)
        if gating in found:
            raise InvalidRequest.of("--gate", f"{name} is given twice")
        found.append(gating)
    return tuple(found)


def _gated(setting: Setting, gates: Sequence[Gating]) -> list[Setting]:
    if not needs_retriever(setting.policy):
        return []
    policy, asked = setting.policy, setting.policy.overrides
    behind = (replace(asked, gate=each.gate, gate_threshold=each.threshold) for each in gates)
    return [
        setting_of(replace(policy, overrides=each), setting.scorer, setting.index)
        for each in behind
    ]


def _named(text: str) -> Gating:
    name, colon, number = text.partition(":")
    if name not in tuple(Gate):
        known = ", ".join(Gate)
        raise InvalidRequest.of("--gate", f"there is no gate {name!r}; known: {known}")
    if not colon:
        return Gating(Gate(name))
    try:
        threshold = float(number)
    except ValueError:
        threshold = 0.0
    if not 0 < threshold <= 1:
        text = f"the threshold of {name} must be a number in (0, 1], not {number!r}"
        raise InvalidRequest.of("--gate", text)
    return Gating(Gate(name), threshold)
