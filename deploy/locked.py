"""Print the locked requirements of some extras, each with its hashes.

    python deploy/locked.py EXTRA... > requirements.txt
    python deploy/locked.py --check

``requirements.txt`` beside this file locks every package that an extra of ``pyproject.toml`` needs.
An environment takes the part that its own extras need: their requirements, and what uv's "via"
comments say that these need in turn. ``--check`` compares the lock with ``pyproject.toml`` offline.
A dependency group counts as an extra. Needs the standard library alone, ``--check`` also packaging.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_LOCK = Path(__file__).with_name("requirements.txt")
_PINNED = re.compile(r"^(?P<name>[\w.-]+)(?:\[[^]]*\])?==(?P<version>[^\s;]+)")


@dataclass(frozen=True, slots=True)
class Locked:
    """A package of the lock: its lines, and the packages that need it."""

    name: str
    version: str
    text: str
    via: frozenset[str]


def main(arguments: list[str]) -> int:
    """Return the exit status for these arguments."""
    if not arguments:
        print("usage: python deploy/locked.py EXTRA... | --check", file=sys.stderr)
        return 2
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"] | project["dependency-groups"]
    packages = list(read_lock(_LOCK.read_text()))
    if arguments == ["--check"]:
        wrong = list(differences(extras, packages))
        for each in wrong:
            print(f"deploy/{_LOCK.name}: {each}; run make lock", file=sys.stderr)
        return bool(wrong)
    if unknown := set(arguments) - set(extras):
        print(f"pyproject.toml has no extra {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    names = needed(extras, arguments, packages)
    print("\n".join(each.text for each in packages if each.name in names))
    return 0


def read_lock(text: str) -> Iterator[Locked]:
    """Yield the packages that uv wrote."""
    for block in re.split(r"\n(?=[\w])", text):
        if found := _PINNED.match(block):
            via = block.partition("# via ")[2].split(",")
            yield Locked(
                normal(found["name"]),
                found["version"],
                block.strip(),
                frozenset(normal(each.strip()) for each in via),
            )


def needed(extras: dict[str, list[str]], names: Iterable[str], packages: list[Locked]) -> set[str]:
    """Return the names of the packages that these extras need, in turn too."""
    found = {name_of(each) for each in requirements(extras, names)}
    while more := {each.name for each in packages if each.via & found} - found:
        found |= more
    return found


def requirements(extras: dict[str, list[str]], names: Iterable[str]) -> Iterator[str]:
    """Yield the requirements of these extras, and of the extras of scaar that they name."""
    for name in names:
        for each in extras[name]:
            if own := re.fullmatch(r"scaar\[(.+)\]", each):
                yield from requirements(extras, own[1].split(","))
            else:
                yield each


def differences(extras: dict[str, list[str]], packages: list[Locked]) -> Iterator[str]:
    """Yield what the lock lacks, has at a version that is excluded, or has and no extra needs."""
    from packaging.requirements import Requirement

    versions = {each.name: each.version for each in packages}
    for text in sorted(set(requirements(extras, extras))):
        required = Requirement(text)
        version = versions.get(normal(required.name))
        if version is None:
            yield f"lacks {text}"
        elif not required.specifier.contains(version, prereleases=True):
            yield f"has {required.name} {version}, which {text} excludes"
    for name in sorted(set(versions) - needed(extras, extras, packages)):
        yield f"has {name}, which no extra needs"
    for each in packages:
        if "--hash=sha256:" not in each.text:
            yield f"has no hash of {each.name}"


def name_of(requirement: str) -> str:
    """Return the name of the package that a requirement names."""
    return normal(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])


def normal(name: str) -> str:
    """Return a package's name in the form by which indexes compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
