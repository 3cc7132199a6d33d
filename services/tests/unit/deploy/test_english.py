"""scaar-english: how its encoder is assembled, and its wheel."""

import importlib
import json
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest
import safetensors.numpy

ROOT = Path(__file__).parents[4]


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts of deploy/ import each other from there."""
    monkeypatch.syspath_prepend(str(ROOT / "deploy"))


@pytest.fixture
def assembly(scripts: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, whose folder is empty and which cannot download anything."""

    def offline(work: Path) -> Path:
        raise AssertionError("nothing must be downloaded")

    module = importlib.import_module("english_model")
    monkeypatch.setattr(module, "FOLDER", tmp_path / "models" / "encoder")
    monkeypatch.setattr(module, "download", offline)
    return module


@pytest.fixture
def wheel(cross_encoder_folder: Path, sentence_encoder_folder: Path, tmp_path: Path) -> Path:
    """The files of a small encoder, as the pinned wheel has them."""
    folder = tmp_path / "wheel"
    shutil.copytree(sentence_encoder_folder, folder, ignore=shutil.ignore_patterns("model.onnx"))
    (folder / "README.md").write_text("license: apache-2.0")
    tensors = safetensors.numpy.load_file(cross_encoder_folder / "model.safetensors")
    own = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
    safetensors.numpy.save_file(own, folder / "model.safetensors")
    return folder


def assemble(assembly: ModuleType, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Assembles the folder, and records the digest that it should have."""
    monkeypatch.setattr(assembly, "download", lambda work: wheel)
    write = assembly.write_checkpoint

    def recorded(folder: Path, *arguments: object) -> None:
        write(folder, *arguments)
        digest = sha256((folder / assembly.REPORT).read_bytes()).hexdigest()
        monkeypatch.setattr(assembly, "REPORT_SHA256", digest)

    monkeypatch.setattr(assembly, "write_checkpoint", recorded)
    assert assembly.main() == 0
    monkeypatch.setattr(assembly, "write_checkpoint", write)


def test_the_folder_has_the_graph_and_what_its_authors_say(
    assembly: ModuleType,
    wheel: Path,
    sentence_encoder_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assemble(assembly, wheel, monkeypatch)
    folder = assembly.FOLDER
    expected = (sentence_encoder_folder / "model.onnx").read_bytes()
    assert (folder / "model.onnx").read_bytes() == expected
    for name in ("README.md", "modules.json", "1_Pooling/config.json"):
        assert (folder / name).read_bytes() == (wheel / name).read_bytes()
    assert not (folder / "model.safetensors").exists()
    assert json.loads((folder / assembly.REPORT).read_text())["licence"] == "Apache-2.0"


def test_an_intact_folder_is_not_downloaded_again(
    assembly: ModuleType, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assemble(assembly, wheel, monkeypatch)
    monkeypatch.setattr(assembly, "download", lambda work: pytest.fail("downloads again"))
    assert assembly.main() == 0


@pytest.mark.parametrize("name", ["model.onnx", "1_Pooling/config.json", "training_report.json"])
def test_a_damaged_folder_is_assembled_again(
    assembly: ModuleType, wheel: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assemble(assembly, wheel, monkeypatch)
    whole = (assembly.FOLDER / name).read_bytes()
    (assembly.FOLDER / name).write_bytes(whole[:-1])
    assert assembly.main() == 0
    assert (assembly.FOLDER / name).read_bytes() == whole


def test_a_model_other_than_the_recorded_one_is_removed_and_reported(
    assembly: ModuleType,
    wheel: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(assembly, "download", lambda work: wheel)
    assert assembly.main() == 1
    assert "differs from the recorded one" in capsys.readouterr().err
    assert not assembly.FOLDER.parent.exists()


@pytest.fixture
def checkout(scripts: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sources of the wheel, with a model of a few bytes."""
    root = tmp_path / "checkout"
    for name in ("LICENSE", "services/scaar/__init__.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    ignored = shutil.ignore_patterns("models", "__pycache__")
    own = shutil.copytree(
        ROOT / "services/scaar_english", root / "services/scaar_english", ignore=ignored
    )
    (own / "models/all-minilm-l6-v2").mkdir(parents=True)
    (own / "models/all-minilm-l6-v2/model.onnx").write_bytes(b"weights")
    monkeypatch.setattr(importlib.import_module("distribution"), "ROOT", root)
    return root


@pytest.mark.usefixtures("checkout")
def test_the_wheel_has_the_model_its_origin_and_its_licence(tmp_path: Path) -> None:
    wheel = importlib.import_module("english_distribution").ENGLISH.build_wheel(tmp_path / "dist")
    assert wheel.name.startswith("scaar_english-")
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "from scaar_english import model_folder; print((model_folder() / 'model.onnx').read_text())"
    )
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        check=True,
        text=True,
    )
    assert ran.stdout.strip() == "weights"
    (metadata,) = tmp_path.glob("site/*.dist-info/METADATA")
    assert "License-Expression: Apache-2.0" in metadata.read_text()
    assert "Requires-Dist" not in metadata.read_text()
    assert "SHA-256" in (tmp_path / "site/scaar_english/README.md").read_text()
    assert list(tmp_path.glob("site/*.dist-info/licenses/LICENSE"))


def test_a_checkout_without_the_model_says_how_to_get_it(checkout: Path) -> None:
    shutil.rmtree(checkout / "services/scaar_english/models")
    ran = subprocess.run(
        [sys.executable, "-S", "-c", "import scaar_english; scaar_english.model_folder()"],
        env={"PYTHONPATH": str(checkout / "services")},
        capture_output=True,
        check=False,
        text=True,
    )
    assert "run make english to assemble it" in ran.stderr
