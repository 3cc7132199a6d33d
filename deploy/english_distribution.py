"""Build scaar-english, the distribution of a sentence encoder of English, into a folder.

    python deploy/english_distribution.py DIST

Needs hatchling, and the encoder in place (deploy/english_model.py). There is a wheel alone.
"""

import sys
from pathlib import Path

from distribution import ROOT, build

PYPROJECT = """\
[build-system]
requires = ["hatchling==1.33.0"]
build-backend = "hatchling.build"

[project]
name = "scaar-english"
dynamic = ["version"]
description = "all-MiniLM-L6-v2, a sentence encoder of English, for scaar."
readme = "scaar_english/README.md"
requires-python = ">=3.11"
license = "Apache-2.0"
license-files = ["LICENSE"]

[tool.hatch.version]
path = "version.py"

[tool.hatch.build.targets.wheel]
only-include = ["scaar_english"]
"""


if __name__ == "__main__":
    if not (ROOT / "services/scaar_english/models").is_dir():
        sys.exit("deploy/english_distribution.py: the encoder is missing; run make english")
    sources = {"scaar_english": "services/scaar_english"}
    for path in build(Path(sys.argv[1]), PYPROJECT, sources, sdist=False):
        print(path.name)
