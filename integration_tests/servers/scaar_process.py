"""``scaar`` as a process: the code of this one, whatever is installed."""

import os
import sys

ENVIRONMENT = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "ignore"}
"""What the process needs for that."""


def scaar(*arguments: str) -> list[str]:
    """The command line with these arguments."""
    return [sys.executable, "-m", "scaar.cli", *arguments]
