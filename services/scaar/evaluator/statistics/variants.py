"""Policy variants: settings that differ in tuned values only are candidates of one variant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scaar.core.controls import Control
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import combination_of
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.policies.settings import SETTINGS, TUNED
from scaar.core.types import (
    EffectivePolicy,
    LogprobKind,
    ModelDescription,
    PolicyRequest,
    Provenance,
)
from scaar.evaluator.records import Setting

_NO_MODEL = ModelDescription("", "", "", LogprobKind.UNKNOWN, frozenset(), 0, "")


@dataclass(frozen=True, slots=True)
class PolicyVariant:
    """A policy variant in a comparison, with the positions of its candidates among the settings."""

    name: str
    candidates: tuple[int, ...]


def policy_variants(settings: Sequence[Setting]) -> tuple[PolicyVariant, ...]:
    """Return the policy variants of the settings, in the order of their first setting.

    A policy with another trigger or query than its own (``flare:query=pfq``), or with another
    scorer, is a variant of its own; with several indexes there is a variant for each.
    """
    found: dict[str, list[int]] = {}
    for position, setting in enumerate(settings):
        name = variant_name(setting.policy, setting.scorer, setting.index)
        found.setdefault(name, []).append(position)
    return tuple(PolicyVariant(name, tuple(candidates)) for name, candidates in found.items())


def variant_name(
    policy: PolicyRequest, scorer: Control | None = None, index: str | None = None
) -> str:
    """Return the policy's name with the trigger, query and scorer that are not its own.

    In a comparison of indexes, the name ends with the index.
    """
    differs = [
        f"{name}={str(value).lower()}"
        for name, value in policy.overrides.given().items()
        if name not in TUNED
        and value != _own(policy, name)
        # The settings of an artefact are part of its name.
        and (not policy.artefact or name == "gate")
    ]
    differs += [f"scorer={scorer}"] if scorer else []
    differs += [f"index={index}"] if index else []
    return f"{policy.label}:{','.join(differs)}" if differs else policy.label


def in_force(
    settings: Sequence[Setting], provenance: Mapping[str, Provenance]
) -> tuple[EffectivePolicy | None, ...]:
    """Return the effective policy of every setting.

    ``provenance`` is by label. A setting without an answer has the defaults of the policy; None for
    an unknown policy.
    """
    return tuple(_in_force(setting, provenance.get(setting.label)) for setting in settings)


def _in_force(setting: Setting, made_by: Provenance | None) -> EffectivePolicy | None:
    if made_by is not None:
        return made_by.policy
    known = setting.policy.name in PRESETS
    return effective_policy(setting.policy, _NO_MODEL) if known else None


def _own(policy: PolicyRequest, name: str) -> object:
    """Return the default of a setting; None for an unknown policy."""
    preset = PRESETS.get(policy.name)
    if preset is None:
        return None
    return SETTINGS[name].default(preset, combination_of(preset, policy.overrides))
