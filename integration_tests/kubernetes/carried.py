"""The tests of an installation, packed for a pod whose image has scaar and no tests."""

import io
import tarfile
from importlib.metadata import distribution
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
# What they import and no image has. Those that are compiled are of this machine's Python, so that
# the images must have the same one.
_PACKAGES = (
    *("pytest", "pytest-asyncio", "pluggy", "iniconfig"),
    *("trustme", "cryptography", "cffi", "pycparser"),
)
_SOURCES = ("pyproject.toml", "integration_tests")


def packed() -> bytes:
    """A tar: ``packages`` to import, and beside it the sources of the tests."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        for name in _SOURCES:
            tar.add(_ROOT / name, name, filter=_without_caches)
        for package in _PACKAGES:
            for file in distribution(package).files or ():
                if ".." not in file.parts and "__pycache__" not in file.parts:
                    tar.add(str(file.locate()), f"packages/{file}")
    return buffer.getvalue()


def _without_caches(found: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if Path(found.name).name in (".cache", "__pycache__") else found
