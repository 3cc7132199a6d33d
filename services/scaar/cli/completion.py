"""Shell completion of policies, their settings, and the indexes of this machine."""

from collections.abc import Iterable
from enum import StrEnum

from scaar.compose import scaar_home
from scaar.core.errors import ScaarError
from scaar.core.policies import PRESETS
from scaar.core.policies.settings import SETTINGS
from scaar.retriever.local.files import IndexFiles
from scaar.retriever.settings import RetrieverSettings


def complete_policy(incomplete: str) -> list[str]:
    """Return the policies whose names start with the text."""
    return [name for name in PRESETS if name.startswith(incomplete)]


def complete_policies(incomplete: str) -> list[str]:
    """Complete the last name of a list with commas; leave out names that are already in it."""
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    names = [name for name in complete_policy(last) if name not in taken]
    return [f"{before}{comma}{name}" for name in names]


def complete_setting(incomplete: str) -> list[tuple[str, str]]:
    """Return ``name=`` of the policy settings that start with the text, or their values.

    Each comes with the description of the setting, which zsh and fish display.
    """
    name, equals, value = incomplete.partition("=")
    if not equals:
        return [(f"{each}=", SETTINGS[each].meaning) for each in SETTINGS if each.startswith(name)]
    if name not in SETTINGS:
        return []
    setting = SETTINGS[name]
    values: Iterable[str] = setting.registry or ()
    if setting.kind is bool:
        values = ("true", "false")
    elif issubclass(setting.kind, StrEnum):
        values = setting.kind
    return [(f"{name}={each}", setting.meaning) for each in values if each.startswith(value)]


def complete_index(incomplete: str) -> list[str]:
    """Return the indexes in this machine's folder whose names start with the text.

    Indexes of a server are not listed: completion makes no calls.
    """
    try:
        settings = RetrieverSettings.read()
        if settings.engine != "bm25s":
            return []
        names = IndexFiles(settings.indexes or scaar_home() / "indexes").names()
    except (ScaarError, OSError):
        return []
    return [name for name in names if name.startswith(incomplete)]
