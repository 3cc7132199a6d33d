"""Build scaar-lab, the distribution of the lab's world and models, into a folder.

    python deploy/lab_distribution.py DIST

Needs hatchling. The sources are services/scaar/lab: in a checkout they are found in place.
"""

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from hatchling.build import build_sdist, build_wheel

ROOT = Path(__file__).parent.parent
PYPROJECT = """\
[build-system]
requires = ["hatchling==1.33.0"]
build-backend = "hatchling.build"

[project]
name = "scaar-lab"
dynamic = ["version"]
description = "The lab of scaar: a fictional world, and small models trained on it."
requires-python = ">=3.11"
license = "Apache-2.0"
license-files = ["LICENSE"]

[tool.hatch.version]
path = "version.py"

[tool.hatch.build.targets.wheel]
# scaar/__init__.py belongs to scaar, which looks for scaar.lab on the whole path.
only-include = ["scaar/lab"]

[tool.hatch.build.targets.sdist]
include = ["/scaar", "/version.py", "/LICENSE"]
"""


def build(dist: Path) -> list[Path]:
    """Build the source distribution and the wheel, and return their paths."""
    dist.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        staging = Path(folder)
        shutil.copytree(
            ROOT / "services/scaar/lab",
            staging / "scaar/lab",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        shutil.copy(ROOT / "services/scaar/__init__.py", staging / "version.py")
        shutil.copy(ROOT / "LICENSE", staging)
        (staging / "pyproject.toml").write_text(PYPROJECT)
        os.chdir(staging)
        try:
            return [dist / each(str(dist)) for each in (build_sdist, build_wheel)]
        finally:
            os.chdir(before)


if __name__ == "__main__":
    for path in build(Path(sys.argv[1]).absolute()):
        print(path.name)
