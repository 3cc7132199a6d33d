"""Build of a distribution that is one package of the checkout, from copies of its files."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hatchling.build import build_sdist, build_wheel

ROOT = Path(__file__).parent.parent

_PYPROJECT = """\
[build-system]
requires = ["hatchling==1.33.0"]
build-backend = "hatchling.build"

[project]
name = "{name}"
dynamic = ["version"]
description = "{description}"
requires-python = ">=3.11"
license = "Apache-2.0"
license-files = ["LICENSE"]
{readme}
[tool.hatch.version]
path = "version.py"

[tool.hatch.build.targets.wheel]
only-include = ["{package}"]

[tool.hatch.build.targets.sdist]
include = ["/{package}", "/version.py", "/LICENSE"]
"""


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of a package, with the version and the licence of scaar."""

    name: str
    description: str
    package: str
    """Folder of the package in the distribution, and in ``services``."""
    readme: str = ""
    """Path in the distribution."""

    def build_wheel(self, dist: Path) -> Path:
        """Build the wheel into a folder, and return its path."""
        return self._build(dist, build_wheel)

    def build_sdist(self, dist: Path) -> Path:
        """Build the source distribution into a folder, and return its path."""
        return self._build(dist, build_sdist)

    def _build(self, dist: Path, build: Callable[[str], str]) -> Path:
        dist = dist.absolute()
        dist.mkdir(parents=True, exist_ok=True)
        before = Path.cwd()
        with TemporaryDirectory() as folder:
            self._stage(Path(folder))
            os.chdir(folder)
            try:
                return dist / build(str(dist))
            finally:
                os.chdir(before)

    def _stage(self, folder: Path) -> None:
        shutil.copytree(
            ROOT / "services" / self.package,
            folder / self.package,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        shutil.copy(ROOT / "LICENSE", folder)
        shutil.copy(ROOT / "services/scaar/__init__.py", folder / "version.py")
        readme = f'readme = "{self.readme}"\n' if self.readme else ""
        pyproject = _PYPROJECT.format(
            name=self.name, description=self.description, package=self.package, readme=readme
        )
        (folder / "pyproject.toml").write_text(pyproject)
