"""The built package, and a running lab whose gateway allows pages of other origins."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from scaar.testing.lab_installation import LabInstallation, running_lab

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "clients/typescript"


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the package as a clean checkout does, in a copy, and return its folder."""
    folder = tmp_path_factory.mktemp("checkout") / "clients/typescript"
    made = shutil.ignore_patterns("node_modules", "dist", "gen", ".venv*")
    shutil.copytree(PACKAGE, folder, ignore=made)
    shutil.copytree(ROOT / "proto", folder.parents[1] / "proto")
    for command in (["npm", "ci", "--no-audit", "--no-fund"], ["npm", "run", "build"]):
        subprocess.run(command, cwd=folder, check=True)
    return folder


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabInstallation]:
    """Yield a running installation of the lab."""
    home = tmp_path_factory.mktemp("scaar")
    with running_lab(home, SCAAR_GATEWAY_ALLOWED_ORIGINS='["*"]') as lab:
        yield lab
