"""A running ``scaar up``, and the environment of the clients."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from scaar.testing.lab_installation import LabInstallation, running_lab

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabInstallation]:
    """Yield a running installation of the lab."""
    with running_lab(tmp_path_factory.mktemp("scaar")) as running:
        yield running


@pytest.fixture(scope="session")
def gateway(lab: LabInstallation) -> str:
    """Return the address of the gateway."""
    return f"localhost:{lab.gateway_port}"


@pytest.fixture(scope="session")
def python() -> str:
    """Return the interpreter with the clients' packages."""
    path = os.environ.get("SCAAR_CLIENTS_PYTHON") or str(ROOT / ".venv-clients/bin/python")
    assert Path(path).exists(), f"{path} does not exist: make integration-clients installs it"
    return path
