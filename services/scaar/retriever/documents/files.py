"""Finding the documents below files and folders."""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scaar.core.errors import InvalidRequest
from scaar.core.filters import MAX_VALUE_CHARACTERS
from scaar.retriever.documents.readers import READERS


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file with a known suffix. ``source`` is its path relative to the ``root`` given."""

    root: Path
    path: Path
    source: str
    size_bytes: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that is not indexed, and why: ``path`` and ``reason`` make a sentence."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"{printable(str(self.path))} {self.reason}"


@dataclass(slots=True)
class FoundFiles:
    """The files below roots, in order; how many have which unknown suffix; what is unreadable."""

    files: list[FoundFile] = field(default_factory=list)
    unsupported: Counter[str] = field(default_factory=Counter)
    errors: list[FileError] = field(default_factory=list)


def printable(name: str) -> str:
    """Return the name of a file with escapes for characters that a terminal should not get."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in name
    )


def check_roots(paths: Sequence[Path], *, option: str = "--from") -> tuple[Path, ...]:
    """Return files and folders as absolute paths.

    Raises:
        InvalidRequest: a path does not exist, is a file of an unknown kind, or is given twice, also
            as a part of another one.
    """
    roots = tuple(path.expanduser().resolve() for path in paths)
    for given, root in zip(paths, roots, strict=True):
        if not root.exists():
            raise InvalidRequest.of(option, f"{given} does not exist")
        if not root.is_dir() and root.suffix.lower() not in READERS:
            known = ", ".join(READERS)
            raise InvalidRequest.of(option, f"{given} is not a folder, and not one of {known}")
    for position, root in enumerate(roots):
        others = (*roots[:position], *roots[position + 1 :])
        if any(root.is_relative_to(other) for other in others):
            raise InvalidRequest.of(option, f"{paths[position]} is given twice")
    return roots


def find_files(roots: Sequence[Path]) -> FoundFiles:
    """Return the documents below the roots, sorted; hidden files and links are skipped.

    Raises:
        InvalidRequest: a root does not exist (any more).
    """
    found = FoundFiles()
    for root in roots:
        if not root.exists():
            raise InvalidRequest.of("documents", f"{root} does not exist")
        for path in _below(root, found.errors):
            suffix = path.suffix.lower()
            if suffix not in READERS:
                found.unsupported[printable(suffix) or "no suffix"] += 1
            else:
                _add(found, root, path)
    return found


def _below(root: Path, errors: list[FileError]) -> Iterator[Path]:
    if not root.is_dir():
        yield root
        return

    def report(error: OSError) -> None:
        reason = error.strerror or str(error)
        errors.append(FileError(Path(str(error.filename)), f"cannot be read: {reason}"))

    for folder, folders, names in os.walk(root, onerror=report):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if not name.startswith(".") and not path.is_symlink():
                yield path


def _add(found: FoundFiles, root: Path, path: Path) -> None:
    source = path.name if path == root else path.relative_to(root).as_posix()
    if len(source) > MAX_VALUE_CHARACTERS or not source.isprintable():
        limit = f"must have a printable path of at most {MAX_VALUE_CHARACTERS} characters"
        found.errors.append(FileError(path, limit))
        return
    try:
        facts = path.stat(follow_symlinks=path == root)
    except FileNotFoundError:
        return  # deleted since its folder was listed
    except OSError as error:
        found.errors.append(FileError(path, f"cannot be read: {error.strerror or error}"))
        return
    if stat.S_ISREG(facts.st_mode):
        file = FoundFile(root, path, source, facts.st_size, facts.st_mtime_ns)
        found.files.append(file)
