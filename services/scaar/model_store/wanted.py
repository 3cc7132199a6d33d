"""What ``scaar models get`` is given: a name of the catalogue, a file of the hub, or a path."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from scaar.core.errors import InvalidRequest
from scaar.model_store.catalogue import (
    CatalogueEntry,
    HubFile,
    Source,
    entry_named,
    unknown_model,
)

_HUB = re.compile(r"hf:(?P<owner>[\w.-]+)/(?P<repo>[\w.-]+)/(?P<file>[^@]+)(@(?P<revision>\S+))?")
_OUTSIDE = re.compile(r"(^|[/\\])\.{0,2}([/\\]|$)")
"""Part of a path that could lead out of a repository: an empty one, ``.`` or ``..``."""
_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)
_NAME = re.compile(r"(?!.*\.gguf$)[a-z0-9][a-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class WantedModel:
    """A model to get: the name that it will have, and its sources or its file.

    Size and digest are those of the catalogue or of the hub; None if neither states them.
    """

    name: str
    sources: tuple[Source, ...] = ()
    path: Path | None = None
    licence: str = ""
    size_bytes: int | None = None
    sha256: str | None = None

    @classmethod
    def of_entry(cls, entry: CatalogueEntry) -> Self:
        """Return the model of a catalogue entry."""
        return cls(
            entry.name,
            entry.sources,
            licence=entry.licence,
            size_bytes=entry.size_bytes,
            sha256=entry.sha256,
        )

    def command(self) -> str:
        """Return the command that gets the model."""
        wanted = self.name if entry_named(self.name) else f"{self.sources[0]} --name {self.name}"
        return f"scaar models get {wanted}"


def parse_wanted(model: str, name: str | None = None) -> WantedModel:
    """Return the model of an argument; ``name`` replaces the name that follows from its file.

    Raises:
        InvalidRequest: the argument or the name is invalid.
        NotFound: the catalogue has no such model.
    """
    if (entry := entry_named(model)) is not None:
        if name is not None:
            raise InvalidRequest.of("--name", "does not apply to models of the catalogue; omit it")
        return WantedModel.of_entry(entry)
    if model.startswith("hf:"):
        found = _HUB.fullmatch(model)
        if found is None or _OUTSIDE.search(found["file"]):
            raise InvalidRequest.of("model", f"must be hf:OWNER/REPO/FILE, not {model!r}")
        repository, file = f"{found['owner']}/{found['repo']}", found["file"]
        if not file.lower().endswith(".gguf"):
            raise InvalidRequest.of("model", f"must be a file .gguf, not {file!r}")
        source = HubFile(repository, file, found["revision"] or "main")
        chosen = _name(file, name)
        if entry_named(chosen) is not None:
            text = f"{chosen} is a model of the catalogue; choose another name"
            raise InvalidRequest.of("--name", text)
        return WantedModel(chosen, (source,))
    path = Path(model).expanduser()
    if "/" not in model and not path.exists():
        raise unknown_model(model)
    wanted = WantedModel(_name(path.name, name), path=path.absolute())
    # A file of the catalogue that came by another way; its digest says whether it is that file.
    entry = entry_named(wanted.name)
    return wanted if entry is None else replace(wanted, sha256=entry.sha256)


def _name(file: str, name: str | None) -> str:
    """Return the name of a model, by default that of its file without its ending."""
    if _PART.search(file):
        raise InvalidRequest.of("model", f"{file} is one of several parts; name a whole file")
    chosen = re.sub(r"\.gguf$", "", Path(file).name, flags=re.IGNORECASE).lower()
    if name is not None:
        chosen = name
    if not _NAME.fullmatch(chosen):
        text = "must be 1 to 100 letters a to z, digits, '.', '_' and '-' without the ending .gguf"
        text += f", not {chosen!r}"
        raise InvalidRequest.of("--name", text)
    return chosen
