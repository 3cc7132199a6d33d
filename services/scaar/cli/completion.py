"""Shell completion of names: policies and their parts and settings, data sets, indexes."""

from collections.abc import Callable, Iterable
from enum import StrEnum

from scaar.compose import scaar_home
from scaar.core.errors import ScaarError
from scaar.core.gates import GATES
from scaar.core.policies import PRESETS
from scaar.core.policies.settings import SETTINGS
from scaar.core.queries import FORMULATIONS
from scaar.core.triggers import TRIGGERS
from scaar.evaluator.datasets import KINDS
from scaar.evaluator.planning.ablations import ABLATIONS
from scaar.retriever.local.files import IndexFiles
from scaar.retriever.settings import RetrieverSettings

Completion = Callable[[str], list[str]]
"""Returns the values that start with a text."""


def completion_of(names: Iterable[str]) -> Completion:
    """Return the completion of a name."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def completion_of_list(complete_name: Completion) -> Completion:
    """Return the completion of a list of names with commas, in which each name occurs once."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        taken = before.split(",")
        names = [name for name in complete_name(last) if name not in taken]
        return [f"{before}{comma}{name}" for name in names]

    return complete


complete_policy = completion_of(PRESETS)
complete_policies = completion_of_list(complete_policy)
complete_trigger = completion_of(TRIGGERS)
complete_query = completion_of(FORMULATIONS)
complete_gate = completion_of(GATES)
complete_gates = completion_of_list(complete_gate)
complete_ablation = completion_of(ABLATIONS)
complete_dataset = completion_of(KINDS)


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


complete_indexes = completion_of_list(complete_index)


complete_indexes = completion_of_list(complete_index)
