"""Programs of servers from Debian packages, unpacked without installation and cached."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .cache import locked


def unpacked(home: Path, packages: Sequence[str]) -> Path:
    """Return the folder of the unpacked packages; download them if they have changed.

    Raises:
        RuntimeError: they cannot be had.
    """
    with locked(home):
        return _unpacked(home, packages)


def _unpacked(home: Path, packages: Sequence[str]) -> Path:
    stamp = home / "fetched.txt"
    expected = " ".join(packages)
    if stamp.is_file() and stamp.read_text() == expected:
        return home
    shutil.rmtree(home, ignore_errors=True)
    fetched = home / "packages"
    fetched.mkdir(parents=True)
    if not _downloaded(fetched, packages):
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        if not _downloaded(fetched, packages):
            raise RuntimeError(f"{packages[0]} is fetched by apt-get, after an apt-get update")
    for package in sorted(fetched.glob("*.deb")):
        subprocess.run(["dpkg", "-x", str(package), str(home)], check=True)
    shutil.rmtree(fetched)
    stamp.write_text(expected)
    return home


def _downloaded(folder: Path, packages: Sequence[str]) -> bool:
    # Root fetches as root: the folder need not be open to apt's own user.
    fetching = ["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", *packages]
    return subprocess.run(fetching, check=False, cwd=folder).returncode == 0
