"""Inject faults into an installation under load, and check its invariants."""

import argparse
import secrets
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

from .injections import INJECTIONS
from .runner import Options, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__)
    names = ", ".join(INJECTIONS)
    parser.add_argument("--seconds", type=float, default=60.0, help="inject for this long (60)")
    parser.add_argument("--seed", type=int, help="seed of the schedule (random, and printed)")
    parser.add_argument("--only", default="", help=f"comma-separated injections of: {names}")
    parser.add_argument("--keep", type=Path, help="keep logs and data in this new folder")
    given = parser.parse_args()
    chosen = given.only.replace(",", " ").split() or list(INJECTIONS)
    if unknown := sorted(set(chosen) - INJECTIONS.keys()):
        parser.error(f"--only: unknown injection {unknown[0]!r}; known: {names}")
    if given.seconds <= 0:
        parser.error(f"--seconds must be greater than 0, not {given.seconds:g}")
    seed = secrets.randbelow(1_000_000) if given.seed is None else given.seed
    folder = given.keep or Path(tempfile.mkdtemp(prefix="chaos-"))
    # PostgreSQL does not run as root.
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    try:
        passed = run(Options(given.seconds, seed, chosen, folder))
    except* (RuntimeError, OSError, subprocess.SubprocessError) as errors:
        traceback.print_exc()
        # The cause comes last, where it is read first.
        for each in _leaves(errors):
            print(f"chaos could not run: {type(each).__name__}: {each}; logs in {folder}")
        passed = False
    if passed and not given.keep:
        shutil.rmtree(folder)
    return 0 if passed else 1


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for each in group.exceptions:
        if isinstance(each, BaseExceptionGroup):
            yield from _leaves(each)
        else:
            yield each


if __name__ == "__main__":
    sys.exit(main())
