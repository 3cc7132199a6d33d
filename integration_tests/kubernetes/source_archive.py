"""Archive of the installation tests, for a pod whose image has scaar but no tests."""

import io
import tarfile
from importlib.metadata import distribution
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
# Packages that the tests import and no image has. Compiled ones are of this machine's Python, so
# the images must have the same version.
_PACKAGES = (
    *("pytest", "pytest-asyncio", "pluggy", "iniconfig"),
    *("trustme", "cryptography", "cffi", "pycparser"),
)
_SOURCES = ("pyproject.toml", "integration_tests")


def source_archive() -> bytes:
    """Return a tar archive of the tests' sources, with ``packages`` to import."""
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
