"""The defaults of one kind of text."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from scaar.core.types import Passage

MIN_REVISION_DIGITS = 12
"""Minimum length of a revision that is compared with digests."""
_NO_FOLDERS: Mapping[str, Path] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class DefaultScorer:
    """The engine and the model folder of a scorer."""

    engine: str
    folder: Path


@dataclass(frozen=True, slots=True)
class DefaultIndex:
    """An index that is built once it is needed."""

    name: str
    passages: Callable[[], Iterable[Passage]]
    version: str = ""
    """Version of the current passages with the default k1 and b. An index of another version is
    replaced; without a version, one of other passages is."""


def _no_digests() -> Collection[str]:
    return ()


@dataclass(frozen=True, slots=True)
class DefaultsProvider:
    """Models, an index and a scorer for texts of one kind, which belong together.

    A provider with language models is of a closed world: only its models write such texts. What a
    provider does not have, scaar requires as a setting.
    """

    text_kind: str
    """Kind of text, the name of the provider: ``lab``, ``english``."""

    language_models: Mapping[str, Path] = field(default_factory=lambda: _NO_FOLDERS)
    """Folders of the language models of engine ``onnx`` by name, the default first."""

    scorer: DefaultScorer | None = None
    encoder: Path | None = None
    """Folder of the sentence encoder of indexes with vectors."""

    rerankers: Mapping[str, Path] = field(default_factory=lambda: _NO_FOLDERS)
    """Folders of cross-encoders that rerank passages, by name."""

    index: DefaultIndex | None = None
    digests: Callable[[], Collection[str]] = _no_digests
    """Returns the SHA-256 of the files of its models. By them a model is known under any name."""

    def has_model(self, revision: str) -> bool:
        """Return whether one of its models has this revision: a digest, or the start of one."""
        known = len(revision) >= MIN_REVISION_DIGITS
        return known and any(digest.startswith(revision) for digest in self.digests())
