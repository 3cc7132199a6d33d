"""Build of a distribution that is a part of the checkout, from copies of its files."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from hatchling.build import build_sdist, build_wheel

ROOT = Path(__file__).parent.parent
SHARED = {"version.py": "services/scaar/__init__.py", "LICENSE": "LICENSE"}
"""Files of every distribution: the version is that of scaar."""


def build(dist: Path, pyproject: str, sources: Mapping[str, str], *, sdist: bool) -> list[Path]:
    """Build the wheel, and before it with ``sdist`` the source distribution; return their paths.

    ``sources`` are paths in the distribution, with those of the checkout.
    """
    dist = dist.absolute()
    dist.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        staging = Path(folder)
        for name, source in {**sources, **SHARED}.items():
            _copy(ROOT / source, staging / name)
        (staging / "pyproject.toml").write_text(pyproject)
        os.chdir(staging)
        try:
            builds = (build_sdist, build_wheel) if sdist else (build_wheel,)
            return [dist / build_one(str(dist)) for build_one in builds]
        finally:
            os.chdir(before)


def _copy(source: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, to)
