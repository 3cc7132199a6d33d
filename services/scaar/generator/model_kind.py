"""The kind of a model, base or instruct, and what it was concluded from."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scaar.core.types import ModelKind
from scaar.generator.settings import GeneratorSettings
from scaar.model_store.catalogue import (
    CatalogueEntry,
    entry_named,
    entry_of_digest,
    entry_of_file,
)

_SETTING = "SCAAR_GENERATOR_MODEL_KIND"
_MARK = re.compile(r"instruct|chat|(?<=-)it(?![a-z])", re.IGNORECASE)
"""What names of instruct models contain: ``Qwen2.5-0.5B-Instruct``, ``gemma-3-1b-it``."""


@dataclass(frozen=True, slots=True)
class FoundKind:
    """The kind of a model; ``reason`` completes "because"."""

    kind: ModelKind
    reason: str

    def __str__(self) -> str:
        return f"{self.kind} ({self.reason})"


def find_kind(settings: GeneratorSettings, names: Iterable[str], *, sha256: str = "") -> FoundKind:
    """Return the kind of the settings, else of the catalogue, else of the first telling name.

    ``names`` are the names of the model itself, best first, and ``sha256`` is the digest of its
    file, if it is known. A chat template proves nothing: base models have one too. Settings that
    only apply to instruct models state the kind as well.
    """
    if settings.model_kind != "auto":
        return FoundKind(ModelKind(settings.model_kind), _SETTING)
    if stated := _stated(settings):
        return FoundKind(ModelKind.INSTRUCT, f"SCAAR_GENERATOR_{stated.upper()}")
    own_names = [own_name(name) for name in names]
    if (entry := _entry_of(own_names, sha256)) is not None:
        return FoundKind(entry.kind, f"{entry.name} in the catalogue of models")
    for name in own_names:
        if mark := _MARK.search(name):
            text = f"the name {name} contains {_shown(mark)}"
            return FoundKind(ModelKind.INSTRUCT, text)
    return FoundKind(ModelKind.BASE, _unmarked(own_names))


def own_name(name: str) -> str:
    """Return the name of a model without the folder or the owner before it."""
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _entry_of(own_names: Iterable[str], sha256: str) -> CatalogueEntry | None:
    found = [entry_of_digest(sha256)]
    for name in own_names:
        found += [entry_named(name), entry_of_file(name)]
    return next((entry for entry in found if entry is not None), None)


def _stated(settings: GeneratorSettings) -> str | None:
    """Return the setting that only applies to an instruct model, if one is set."""
    if settings.openai_api == "chat":
        return "openai_api"
    if settings.chat_template:
        return "chat_template"
    return "chat_template_file" if settings.chat_template_file is not None else None


def _shown(mark: re.Match[str]) -> str:
    return "-it" if mark[0].casefold() == "it" else mark[0].casefold()


def _unmarked(names: Sequence[str]) -> str:
    listed = ", ".join(name for name in names if name)
    return f"no instruct, chat or -it in the name {listed}; if it is wrong, set {_SETTING}"
