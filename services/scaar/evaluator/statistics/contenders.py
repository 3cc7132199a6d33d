"""Which settings stand for which policy: what is tuned is a candidate, what differs is another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from scaar.core.controls import Control
from scaar.core.policies import PRESETS
from scaar.core.policies.effective import effective_policy
from scaar.core.types import (
    EffectivePolicy,
    Formulation,
    Granularity,
    LogprobKind,
    ModelDescription,
    PolicyOverrides,
    PolicyRequest,
    Provenance,
    Truncation,
)
from scaar.evaluator.records import Setting

TUNED = (
    *("theta", "theta_cap", "alpha", "word_order", "last_n_tokens"),
    *("top_words", "top_k", "window_tokens", "max_passages"),
)
"""The overrides that leave a policy what it is: settings that differ in these are candidates."""

_NO_MODEL = ModelDescription("", "", "", LogprobKind.UNKNOWN, frozenset(), 0, "")


@dataclass(frozen=True, slots=True)
class Contender:
    """A policy in a comparison, and the positions of its candidates among the settings."""

    name: str
    candidates: tuple[int, ...]


def contenders(settings: Sequence[Setting]) -> tuple[Contender, ...]:
    """The policies of some settings, in the order in which they first stand there.

    A policy with another trigger or query than its own (``flare:query=pfq``), or with another
    scorer, is one by itself; so is one for each index, where there are several.
    """
    found: dict[str, list[int]] = {}
    for position, setting in enumerate(settings):
        name = contender_name(setting.policy, setting.scorer, setting.index)
        found.setdefault(name, []).append(position)
    return tuple(Contender(name, tuple(candidates)) for name, candidates in found.items())


def contender_name(
    policy: PolicyRequest, scorer: Control | None = None, index: str | None = None
) -> str:
    """The policy's name, with what it has of another trigger, query or scorer than its own.

    Where indexes stand beside each other, with the one that it retrieves from.
    """
    given = ((each.name, getattr(policy.overrides, each.name)) for each in fields(PolicyOverrides))
    differs = [
        f"{name}={str(value).lower()}"
        for name, value in given
        if name not in TUNED and value is not None and value != _own(policy, name)
    ]
    differs += [f"scorer={scorer}"] if scorer else []
    differs += [f"index={index}"] if index else []
    return f"{policy.name}:{','.join(differs)}" if differs else policy.name


def in_force(
    settings: Sequence[Setting], provenance: Mapping[str, Provenance]
) -> tuple[EffectivePolicy | None, ...]:
    """Every setting's policy with the values that were in force.

    ``provenance`` is by label. A setting that never answered has the papers' values for what it
    does not name; a policy that is unknown here has none.
    """
    return tuple(_in_force(setting, provenance.get(setting.label)) for setting in settings)


def _in_force(setting: Setting, made_by: Provenance | None) -> EffectivePolicy | None:
    if made_by is not None:
        return made_by.policy
    known = setting.policy.name in PRESETS
    return effective_policy(setting.policy, _NO_MODEL) if known else None


def _own(policy: PolicyRequest, name: str) -> object:
    """What a setting is where nobody sets it."""
    preset = PRESETS.get(policy.name)
    match name:
        case "query":
            return preset.query.formulation if preset else None
        case "granularity":
            return Granularity.WORD
        case "truncate":
            return Truncation.SENTENCE
        case "include_question":
            own = preset.query.formulation if preset else None
            return (policy.overrides.query or own) is Formulation.PFQ
        case _:
            return getattr(preset, name, None)
