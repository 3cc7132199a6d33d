"""Build scaar-lab, the distribution of the lab's world and models, into a folder.

    python deploy/lab_distribution.py DIST

Needs hatchling. The sources are services/scaar/lab: in a checkout they are found in place.
"""

import sys
from pathlib import Path

from distribution import build

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


if __name__ == "__main__":
    sources = {"scaar/lab": "services/scaar/lab"}
    for path in build(Path(sys.argv[1]), PYPROJECT, sources, sdist=True):
        print(path.name)
