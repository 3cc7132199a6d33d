"""``scaar`` as a process that runs the code of this process, not an installed one."""

import os
import sys

ENVIRONMENT = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "ignore"}
"""Environment that selects this code."""


def scaar(*arguments: str) -> list[str]:
    """Return the command line with these arguments."""
    return [sys.executable, "-m", "scaar.cli", *arguments]
