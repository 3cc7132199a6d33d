"""The lock of third-party packages, and the part of it that an environment installs."""

import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]
LOCKED = ROOT / "deploy" / "locked.py"
LOCK = """\
aiohttp==3.14.5 \\
    --hash=sha256:aa
    # via opensearch-py
certifi==2026.1.1 ; sys_platform != 'emscripten' \\
    --hash=sha256:bb
    # via aiohttp, requests
numpy==2.4.6 \\
    --hash=sha256:cc
    # via scaar (pyproject.toml)
opensearch-py==3.2.0 \\
    --hash=sha256:dd
    # via scaar (pyproject.toml)
"""
EXTRAS = {"dense": ["numpy>=2"], "search": ["opensearch_py[async]>=3"], "all": ["scaar[search]"]}


@pytest.fixture(scope="module")
def locked() -> Any:
    spec = spec_from_file_location("locked", LOCKED)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    # A dataclass looks its module up.
    sys.modules["locked"] = module
    spec.loader.exec_module(module)
    return module


def test_the_lock_agrees_with_the_requirements() -> None:
    ran = subprocess.run([sys.executable, LOCKED, "--check"], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_every_package_has_hashes_and_none_an_address(locked: Any) -> None:
    text = (ROOT / "deploy" / "requirements.txt").read_text()
    assert "://" not in text
    packages = list(locked.read_lock(text))
    assert len(packages) == sum("==" in line for line in text.splitlines())
    assert all("--hash=sha256:" in each.text for each in packages)


def test_an_environment_takes_what_its_extras_need_in_turn(locked: Any) -> None:
    packages = list(locked.read_lock(LOCK))
    assert locked.needed(EXTRAS, ["dense"], packages) == {"numpy"}
    search = {"opensearch-py", "aiohttp", "certifi"}
    assert locked.needed(EXTRAS, ["all"], packages) == search
    assert locked.needed(EXTRAS, ["all", "dense"], packages) == {*search, "numpy"}


def test_an_image_takes_no_package_of_another_engine() -> None:
    command = [sys.executable, LOCKED, "cli", "query-builder", "telemetry"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = {line.split("==")[0] for line in printed.splitlines() if "==" in line}
    assert {"grpcio", "textblob", "typer", "opentelemetry-sdk"} <= names
    assert not {"numpy", "onnxruntime", "torch", "pytest", "hatchling"} & names


@pytest.mark.parametrize(
    ("extras", "message"),
    [
        (EXTRAS | {"dense": ["numpy>=3"]}, "has numpy 2.4.6, which numpy>=3 excludes"),
        (EXTRAS | {"dense": ["numpy>=2", "scipy"]}, "lacks scipy"),
        ({"search": EXTRAS["search"]}, "has numpy, which no extra needs"),
    ],
)
def test_a_lock_of_other_requirements_is_refused(
    extras: dict[str, list[str]], message: str, locked: Any
) -> None:
    assert list(locked.differences(EXTRAS, list(locked.read_lock(LOCK)))) == []
    assert list(locked.differences(extras, list(locked.read_lock(LOCK)))) == [message]


def test_a_package_without_a_hash_is_refused(locked: Any) -> None:
    packages = list(locked.read_lock(LOCK.replace("    --hash=sha256:cc\n", "")))
    assert list(locked.differences(EXTRAS, packages)) == ["has no hash of numpy"]


def test_what_builds_scaar_is_locked_too(locked: Any) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(project["build-system"]["requires"]) <= set(project["dependency-groups"]["build"])


def test_an_unknown_extra_is_refused() -> None:
    ran = subprocess.run([sys.executable, LOCKED, "gpu"], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (2, "pyproject.toml has no extra gpu\n")
