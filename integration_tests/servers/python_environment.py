"""Virtual environment of a server that is a Python package."""

import subprocess
import venv
from pathlib import Path

_UV = "uv==0.13.9"


def install(
    environment: Path, requirements: Path, *, size: str, overrides: Path | None = None
) -> None:
    """Install the requirements from PyPI, unless the same ones are installed.

    ``overrides`` replace the versions that packages require of others. ``size`` says how much is
    downloaded.
    """
    files = [requirements] if overrides is None else [requirements, overrides]
    expected = "".join(file.read_text() for file in files)
    stamp = environment / "installed.txt"
    if stamp.is_file() and stamp.read_text() == expected:
        return
    print(f"Installing {requirements.parent.name} into {environment} ({size})", flush=True)
    venv.create(environment, with_pip=True, clear=True)
    python = str(environment / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", _UV]
    subprocess.run(pip, check=True)
    command = [python, "-m", "uv", "pip", "install", "--quiet", "--python", python]
    command += ["--requirement", str(requirements)]
    if overrides is not None:
        command += ["--override", str(overrides)]
    subprocess.run(command, check=True)
    stamp.write_text(expected)
