"""Built-in parts of a registry that come with other distributions, and may not be installed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Generic, TypeVar

from scaar.core.registry import ExtensionInvalid

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part is defined, and the package that must be installed.

    ``package`` may be inside another one, which is imported to find it.
    """

    package: str
    module: str
    attribute: str


class OptionalParts(Mapping[str, _Part], Generic[_Part]):
    """The parts whose packages are installed, by name. A part is imported when it is looked up.

    Both a checkout and an installation have a part as soon as its package can be found, so that no
    metadata of an installation can be out of date.
    """

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._places = places
        self._parts: dict[str, _Part] = {}

    def __getitem__(self, name: str) -> _Part:
        """Return the part.

        Raises:
            KeyError: there is no part of this name, or its package is not installed.
            ExtensionInvalid: its package is installed and the part cannot be imported.
        """
        if name not in self._parts:
            if name not in self:
                raise KeyError(name)
            place = self._places[name]
            try:
                self._parts[name] = getattr(import_module(place.module), place.attribute)
            except (Exception, SystemExit) as error:
                text = f"{place.module}: {type(error).__name__}: {error}"
                raise ExtensionInvalid(f"package {place.package} cannot be used: {text}") from error
        return self._parts[name]

    def __contains__(self, name: object) -> bool:
        place = self._places.get(name) if isinstance(name, str) else None
        return place is not None and _is_installed(place.package)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._places if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # of the package that it is inside of
        return False
