"""The wheels of scaar and scaar-lab: disjoint, and found together wherever they are installed."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hatchling.build import build_wheel

ROOT = Path(__file__).parents[4]
LAB = (
    "from scaar.lab.models import model_folder; "
    "print((model_folder('lab-lm') / 'model.onnx').exists())"
)
INSTALLED = "from scaar.core.distributions import lab_is_installed; print(lab_is_installed())"


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folders that the two wheels are unpacked into."""
    dist = tmp_path_factory.mktemp("dist")
    with working_in(ROOT):
        scaar = dist / build_wheel(str(dist))
    script = [sys.executable, str(ROOT / "deploy/lab_distribution.py"), str(dist)]
    ran = subprocess.run(script, capture_output=True, check=True, text=True)
    sdist, lab = (dist / name for name in ran.stdout.split())
    assert sdist.name.startswith("scaar_lab-")
    folders = tmp_path_factory.mktemp("scaar"), tmp_path_factory.mktemp("lab")
    for wheel, folder in zip((scaar, lab), folders, strict=True):
        zipfile.ZipFile(wheel).extractall(folder)
    return folders


def run(code: str, *path: Path) -> str:
    """The output of a process without site-packages."""
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        check=False,
        text=True,
    )
    return ran.stdout.strip() or ran.stderr


def test_no_file_is_in_both_and_every_file_in_one(installed: tuple[Path, Path]) -> None:
    scaar, lab = ({str(p.relative_to(f)) for p in f.rglob("*") if p.is_file()} for f in installed)
    assert not scaar & lab
    assert all(each.startswith(("scaar/lab/", "scaar_lab-")) for each in lab)
    assert not any(each.startswith("scaar/lab/") for each in scaar)
    sources = ROOT / "services/scaar"
    expected = {f"scaar/{path.relative_to(sources)}" for path in sources.rglob("*.py")}
    assert expected <= scaar | lab


def test_the_lab_is_found_in_another_folder(installed: tuple[Path, Path]) -> None:
    assert run(INSTALLED, *installed) == "True"
    assert run(LAB, *installed) == "True"


def test_scaar_works_without_the_lab(installed: tuple[Path, Path]) -> None:
    assert run(INSTALLED, installed[0]) == "False"
    assert "No module named 'scaar.lab'" in run(LAB, installed[0])


def test_no_extra_requires_the_lab(installed: tuple[Path, Path]) -> None:
    (metadata,) = installed[0].glob("scaar-*.dist-info/METADATA")
    assert "scaar-lab" not in metadata.read_text().partition("\n\n")[0]
    (of_lab,) = installed[1].glob("scaar_lab-*.dist-info/METADATA")
    versions = {
        line
        for each in (metadata, of_lab)
        for line in each.read_text().splitlines()
        if line.startswith("Version: ")
    }
    assert len(versions) == 1
