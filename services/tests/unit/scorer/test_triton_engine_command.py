"""The command that builds engines in the Triton image, with the standard library only."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import scaar
from scaar.scorer.triton_repository.export import export_scorer
from scaar.scorer.triton_repository.model_config import Backend

PACKAGE = Path(scaar.__file__).parent
TRTEXEC = """#!{python} -S
import sys
from pathlib import Path
if "--help" in sys.argv:
    print("&&&& RUNNING TensorRT.trtexec [TensorRT v101300]")
flags = dict(each.split("=", 1) for each in sys.argv[1:] if "=" in each)
if "--saveEngine" in flags:
    Path(flags["--saveEngine"]).write_text("engine")
if "--exportOutput" in flags:
    values = [9.0] * int(flags["--shapes"].split(":")[1].split("x")[0])
    Path(flags["--exportOutput"]).write_text('[{{"name": "logits", "values": %s}}]' % values)
"""


@pytest.fixture
def files(tmp_path):
    """The files of scaar that the chart copies into an image with only Python."""
    folder = tmp_path / "python" / "scaar"
    folder.mkdir(parents=True)
    shutil.copy(PACKAGE / "__init__.py", folder)
    for part in ("core", "encoders", "scorer"):
        shutil.copytree(PACKAGE / part, folder / part)
    return folder.parent


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def command(files, tmp_path, *arguments):
    """Run the command with only those files and the fakes of the GPU's tools."""
    return subprocess.run(
        [sys.executable, "-S", "-m", "scaar.scorer.triton_repository", *map(str, arguments)],
        env={"PYTHONPATH": str(files), "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_engine_that_drifts_is_refused_in_one_line(cross_encoder_folder, files, tmp_path):
    repository = tmp_path / "repository"
    export_scorer(cross_encoder_folder, repository, backend=Backend.TENSORRT, max_batch_size=8)
    program(tmp_path / "nvidia-smi", "#!/bin/sh\necho 8.9\n")
    trtexec = program(tmp_path / "trtexec", TRTEXEC.format(python=sys.executable))
    engines = tmp_path / "engines"
    ran = command(files, tmp_path, repository, "--cache", engines, "--trtexec", trtexec)
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert line.startswith("scaar: ")
    assert not list(engines.glob("*.plan"))


def test_a_missing_file_is_reported_in_one_line(files, tmp_path):
    ran = command(files, tmp_path, tmp_path / "none", "--cache", tmp_path / "engines")
    assert ran.returncode == 1
    assert ran.stderr.startswith("scaar: ")
    assert "is missing: export the model" in ran.stderr


def test_wrong_usage_is_reported(files, tmp_path):
    ran = command(files, tmp_path, tmp_path)
    assert ran.returncode == 2
    assert "--cache" in ran.stderr
