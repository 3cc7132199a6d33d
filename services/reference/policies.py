"""The tables of docs/policies.md: the settings of policies, and where their defaults come from."""

import enum
from collections.abc import Collection, Iterable

from reference.markdown import table
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import combination_of
from scaar.core.policies.settings import SETTINGS, Origin, PolicySetting
from scaar.core.queries import FORMULATIONS
from scaar.core.triggers import TRIGGERS
from scaar.core.types import AttentionSpan, Moment, PolicyOverrides

JUDGING = "the policies that judge"
_ELSEWHERE = {
    "trigger": "[Triggers](#triggers)",
    "query": "[Query formulations](#query-formulations)",
}


def settings() -> str:
    """Return the table of the settings."""
    rows = (
        (f"`{name}`", each.meaning, _range(each), _default(each), _accepting(each), _requires(each))
        for name, each in SETTINGS.items()
    )
    header = ("setting", "meaning", "range", "default", "accepted by", "requires")
    return table(header, rows)


def origins() -> str:
    """Return the table of the origins, one row for each default."""
    rows = (
        (f"`{name}`", _names(origin, each), f"`{origin.source}`", origin.reason)
        for name, each in SETTINGS.items()
        for origin in each.origins
    )
    return table(("setting", "of", "source", "origin"), rows)


def _range(setting: PolicySetting) -> str:
    if setting.name in _ELSEWHERE:
        return _ELSEWHERE[setting.name]
    if setting.registry is not None:
        return ", ".join(f"`{each}`" for each in setting.registry)
    if issubclass(setting.kind, enum.StrEnum):
        return ", ".join(f"`{each}`" for each in setting.kind)
    return setting.range_text


def _default(setting: PolicySetting) -> str:
    if setting.default_text:
        return setting.default_text
    (value,) = {
        setting.default(preset, combination_of(preset, PolicyOverrides()))
        for preset in PRESETS.values()
        if setting.accepted_by(preset)
    }
    return f"`{value}`" if isinstance(value, enum.StrEnum) else f"{value:g}"


def _accepting(setting: PolicySetting) -> str:
    accepting = [each for each in PRESETS.values() if setting.accepted_by(each)]
    judging = [each for each in PRESETS.values() if Moment.UNCERTAIN_DRAFT in each.moments]
    if not all(each in accepting for each in judging):
        judging = []
    others = [f"`{each.name}`" for each in accepting if each not in judging]
    return ", ".join([*([JUDGING] if judging else []), *others])


def _requires(setting: PolicySetting) -> str:
    if setting.gates:
        return "`gate`"
    if setting.spans:
        return _any_of("attention_span", setting.spans, AttentionSpan)
    return _any_of("trigger", setting.triggers, TRIGGERS) or _any_of(
        "query", setting.queries, FORMULATIONS
    )


def _any_of(basis: str, names: Collection[str], known: Iterable[str]) -> str:
    """Return the names, or the others if they are fewer."""
    others = [f"`{each}`" for each in known if each not in names]
    if len(others) < len(names):
        *first, last = others
        return f"any {basis} except {', '.join(first)}{' and ' * bool(first)}{last}"
    return ", ".join(f"`{basis}={each}`" for each in names)


def _names(origin: Origin, setting: PolicySetting) -> str:
    bases = {"policy": origin.policies, "trigger": origin.triggers, "query": origin.queries}
    named = [f"`{basis}={name}`" for basis, names in bases.items() for name in names]
    return ", ".join(named) or ("all others" if len(setting.origins) > 1 else "")
