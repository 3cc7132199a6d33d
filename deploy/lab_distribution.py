"""Build scaar-lab, the distribution of the lab's world and models, into a folder.

    python deploy/lab_distribution.py DIST

Needs hatchling. The sources are services/scaar/lab: in a checkout they are found in place.
"""

import sys
from pathlib import Path

from distribution import Distribution

# scaar/__init__.py belongs to scaar, which looks for scaar.lab on the whole path.
LAB = Distribution(
    "scaar-lab",
    "The lab of scaar: a fictional world, and small models trained on it.",
    package="scaar/lab",
)


if __name__ == "__main__":
    dist = Path(sys.argv[1])
    print(LAB.build_sdist(dist).name)
    print(LAB.build_wheel(dist).name)
