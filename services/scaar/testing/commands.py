"""The command line, run in this process."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from scaar.cli.main import main

HEEDING_CTRL_C = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Restores Ctrl-C, which processes started by a background shell ignore."""


@dataclass(frozen=True, slots=True)
class Ran:
    """Exit status and output of a command."""

    status: object
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        """The output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


def run_scaar(*arguments: str) -> Ran:
    """Run ``scaar`` with these arguments to its end."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["scaar", *arguments]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as ended:
        return Ran(ended.code, out.getvalue(), err.getvalue())
    finally:
        sys.argv = before
    raise AssertionError("main ends the process")
