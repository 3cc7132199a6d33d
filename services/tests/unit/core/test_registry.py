"""Registries with packages in a folder of the path; the example package is tested as installed."""

import asyncio
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from scaar.core import registry
from scaar.core.registry import ExtensionInvalid, Names, Registry, check_groups

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


def test_parts_of_a_block_are_seen_by_its_tasks_alone(installed: list[EntryPoint]) -> None:
    installed.append(point("pi", "math:pi"))
    found = numbers()

    async def read() -> tuple[list[str], int]:
        return list(found), len(found)

    async def with_three() -> None:
        outside = asyncio.create_task(read())
        with found.with_parts({"three": 3.0}), found.with_parts({"four": 4.0}):
            assert await asyncio.create_task(read()) == (["one", "two", "three", "four", "pi"], 5)
            assert await asyncio.to_thread(found.get, "three") == 3.0
            assert await outside == (["one", "two", "pi"], 3)
        assert await read() == (["one", "two", "pi"], 3)

    asyncio.run(with_three())


@pytest.mark.parametrize(
    ("name", "part", "problem"),
    [
        ("Three", 3.0, "number 'Three': the name must be lower-case letters"),
        ("one", 3.0, "number 'one': scaar has a number of this name"),
        ("pi", 3.0, "number 'pi': scaar has a number of this name"),
        ("three", 3, "number 'three': it must be a float, not a int"),
        ("eleven", 11.0, "number 'eleven': it: is too large"),
    ],
)
def test_an_invalid_part_of_a_block_is_refused(
    installed: list[EntryPoint], name: str, part: float, problem: str
) -> None:
    installed.append(point("pi", "math:pi"))
    found = numbers()
    with pytest.raises(ExtensionInvalid, match=problem), found.with_parts({name: part}):
        pass
    assert list(found) == ["one", "two", "pi"]


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


def test_a_module_that_exits_is_refused(
    installed: list[EntryPoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "exiting_part.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    installed.append(point("pi", "exiting_part:PI"))
    with pytest.raises(ExtensionInvalid, match=r"entry point pi of scaar.numbers: SystemExit: 3"):
        numbers().load()


def test_an_entry_point_of_an_unknown_group_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "sums-2.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: sums\nVersion: 2.1\n")
    entries = metadata / "entry_points.txt"
    monkeypatch.syspath_prepend(tmp_path)
    entries.write_text("[scaar.numbers]\npi = math:pi\n[other.number]\ne = math:e\n")
    check_groups([GROUP])
    entries.write_text("[scaar.number]\ne = math:e\n")
    problem = "sums 2.1, entry point e of scaar.number: there is no such group; known: scaar.number"
    with pytest.raises(ExtensionInvalid, match=problem):
        check_groups([GROUP])
