"""Registries with packages in a folder of the path; the example package is tested as installed."""

from importlib.metadata import EntryPoint

import pytest

from scaar.core import registry
from scaar.core.registry import ExtensionInvalid, Names, Registry

GROUP = "scaar.numbers"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """The entry points of the group; a test adds its own."""
    points: list[EntryPoint] = []

    def entry_points(*, group: str) -> list[EntryPoint]:
        assert group == GROUP
        return points

    monkeypatch.setattr(registry, "entry_points", entry_points)
    return points


def numbers() -> Registry[float]:
    return Registry(
        "number",
        GROUP,
        float,
        {"one": 1.0, "two": 2.0},
        problem=lambda name, number: "is too large" if number > 10 else "",
    )


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, GROUP)


def test_parts_of_packages_follow_the_built_in_ones(installed: list[EntryPoint]) -> None:
    installed += [point("pi", "math:pi"), point("e", "math:e")]
    found = numbers()
    assert list(found) == ["one", "two", "e", "pi"]
    assert (len(found), found["one"], found.get("none")) == (4, 1.0, None)
    assert "e" in found
    assert found.extensions["pi"].package == "an unknown package"
    assert list(Names(found, lambda number: number > 2)) == ["e", "pi"]
    assert "one" not in Names(found, lambda number: number > 2)
    assert found.unknown("three") == "there is no number 'three'; known: one, two, e, pi"


def test_a_built_in_part_does_not_load_packages(installed: list[EntryPoint]) -> None:
    installed.append(point("broken", "does_not_exist:NUMBER"))
    found = numbers()
    assert found["one"] == 1.0
    assert list(found.built_in) == ["one", "two"]
    for use in (found.load, lambda: found["three"], lambda: list(found)):
        with pytest.raises(ExtensionInvalid, match="entry point broken of scaar.numbers: Module"):
            use()


@pytest.mark.parametrize(
    ("added", "problem"),
    [
        ([point("one", "math:pi")], "scaar has a number of this name"),
        ([point("Pi", "math:pi")], "the name must be lower-case letters"),
        ([point("p" * 65, "math:pi")], "at most 64 characters"),
        ([point("pi", "math:ceil")], "math:ceil must be a float, not a builtin_function"),
        ([point("pi", "math:inf")], "math:inf: is too large"),
        ([point("pi", "math:pi"), point("pi", "math:e")], "has a number of this name"),
    ],
)
def test_an_invalid_part_is_refused(
    installed: list[EntryPoint], added: list[EntryPoint], problem: str
) -> None:
    installed += added
    with pytest.raises(ExtensionInvalid, match=problem):
        numbers().load()
