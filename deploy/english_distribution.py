"""Build scaar-english, the distribution of a sentence encoder of English, into a folder.

    python deploy/english_distribution.py DIST

Needs hatchling, and the encoder in place (deploy/english_model.py). There is a wheel alone.
"""

import sys
from pathlib import Path

from distribution import ROOT, Distribution

ENGLISH = Distribution(
    "scaar-english",
    "all-MiniLM-L6-v2, a sentence encoder of English, for scaar.",
    package="scaar_english",
    readme="scaar_english/README.md",
)


if __name__ == "__main__":
    if not (ROOT / "services/scaar_english/models").is_dir():
        sys.exit("deploy/english_distribution.py: the encoder is missing; run make english")
    print(ENGLISH.build_wheel(Path(sys.argv[1])).name)
