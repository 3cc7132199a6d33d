"""Registries: the parts of one kind by name, the built-in ones and those of installed packages.

A package adds a part by an entry point in the group of its registry (docs/extending.md).
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from scaar.core.errors import ScaarError

MAX_NAME_CHARACTERS = 64
"""Maximum length of a name, in code points."""

NO_PARTS: Mapping[str, Any] = MappingProxyType({})
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_Part = TypeVar("_Part")


class ExtensionInvalid(ScaarError):
    """A part of an installed package cannot be used. Retrying does not help."""

    reason = "EXTENSION_INVALID"


@dataclass(frozen=True, slots=True)
class Extension(Generic[_Part]):
    """A part that an installed package adds."""

    name: str
    package: str
    """Name and version of the package."""
    part: _Part


class Registry(Mapping[str, _Part]):
    """The parts of one kind by name.

    The packages are searched when a name that is not built in is looked up, or all names are
    listed; :class:`ExtensionInvalid` is raised then. ``noun`` names a part in errors, ``part_type``
    is its type. ``problem`` returns what is wrong with a part of this name, empty if nothing is.
    """

    def __init__(
        self,
        noun: str,
        group: str,
        part_type: Any,
        built_in: Mapping[str, _Part],
        *,
        problem: Callable[[str, _Part], str] = lambda name, part: "",
    ) -> None:
        self.noun = noun
        self.group = group
        self.built_in = built_in
        self._part_type = part_type
        self._problem = problem
        self._extensions: Mapping[str, Extension[_Part]] | None = None
        self._local: ContextVar[Mapping[str, _Part]] = ContextVar(group, default=NO_PARTS)

    @contextmanager
    def with_parts(self, parts: Mapping[str, _Part]) -> Iterator[None]:
        """Add parts for the code of the block and the tasks that it starts.

        No other code of the process sees them: a server beside the block cannot serve them.

        Raises:
            ExtensionInvalid: a name or a type is invalid, or the registry has a part of this name.
        """
        for name, part in parts.items():
            taken = {*self.built_in, *self._local.get(), *self.extensions}
            if problem := self._refused(name, taken) or self._wrong(name, part, "it"):
                raise ExtensionInvalid(f"{self.noun} {name!r}: {problem}")
        token = self._local.set({**self._local.get(), **parts})
        try:
            yield
        finally:
            self._local.reset(token)

    @property
    def extensions(self) -> Mapping[str, Extension[_Part]]:
        """The parts of installed packages.

        Raises:
            ExtensionInvalid: one cannot be loaded, has an invalid name or type, or has the name of
                another one; names the package.
        """
        if self._extensions is None:
            found: dict[str, Extension[_Part]] = {}
            for point in sorted(entry_points(group=self.group), key=lambda each: each.value):
                extension = self._load(point)
                if other := found.get(point.name):
                    raise _invalid(point, f"{other.package} has a {self.noun} of this name")
                found[point.name] = extension
            self._extensions = found
        return self._extensions

    def load(self) -> None:
        """Load the parts of installed packages.

        Raises:
            ExtensionInvalid: as of :attr:`extensions`.
        """
        _ = self.extensions

    def unknown(self, name: str) -> str:
        """Return what is wrong with a name that is not in the registry."""
        return f"there is no {self.noun} {name!r}; known: {', '.join(self)}"

    def _load(self, point: EntryPoint) -> Extension[_Part]:
        if problem := self._refused(point.name, self.built_in):
            raise _invalid(point, problem)
        try:
            part = point.load()
        except (Exception, SystemExit) as error:
            raise _invalid(point, f"{type(error).__name__}: {error}") from error
        if problem := self._wrong(point.name, part, point.value):
            raise _invalid(point, problem)
        return Extension(point.name, _package(point), part)

    def _refused(self, name: str, taken: Collection[str]) -> str:
        """Return what is wrong with the name of a new part; empty if nothing is."""
        if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARACTERS:
            text = "lower-case letters, digits and underscores, first a letter, at most"
            return f"the name must be {text} {MAX_NAME_CHARACTERS} characters"
        return f"scaar has a {self.noun} of this name" if name in taken else ""

    def _wrong(self, name: str, part: object, what: str) -> str:
        """Return what is wrong with a new part; empty if nothing is."""
        if not isinstance(part, self._part_type):
            expected = getattr(self._part_type, "__name__", str(self._part_type))
            return f"{what} must be a {expected}, not a {type(part).__name__}"
        problem = self._problem(name, part)
        return f"{what}: {problem}" if problem else ""

    def __getitem__(self, name: str) -> _Part:
        for parts in (self.built_in, self._local.get()):
            if name in parts:
                return parts[name]
        return self.extensions[name].part

    def __iter__(self) -> Iterator[str]:
        yield from self.built_in
        yield from self._local.get()
        yield from self.extensions

    def __len__(self) -> int:
        return len(self.built_in) + len(self._local.get()) + len(self.extensions)


class Names(Collection[str], Generic[_Part]):
    """The names in a registry of which a condition on the part holds."""

    def __init__(self, registry: Registry[_Part], condition: Callable[[_Part], bool]) -> None:
        self._registry = registry
        self._condition = condition

    def __contains__(self, name: object) -> bool:
        part = self._registry.get(name) if isinstance(name, str) else None
        return part is not None and self._condition(part)

    def __iter__(self) -> Iterator[str]:
        return (name for name, part in self._registry.items() if self._condition(part))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return True


def check_groups(known: Collection[str]) -> None:
    """Check that every entry point in a group ``scaar.*`` is in one that a registry has.

    Raises:
        ExtensionInvalid: one is not; names the package and the known groups.
    """
    for group in sorted(entry_points().groups):
        if group.startswith("scaar.") and group not in known:
            for point in entry_points(group=group):
                raise _invalid(point, f"there is no such group; known: {', '.join(known)}")


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown package"


def _invalid(point: EntryPoint, problem: str) -> ExtensionInvalid:
    where = f"{_package(point)}, entry point {point.name} of {point.group}"
    return ExtensionInvalid(f"{where}: {problem}")
