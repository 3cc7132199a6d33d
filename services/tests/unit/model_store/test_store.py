"""Models on this machine, by name and by path."""

from pathlib import Path

import pytest

from scaar.compose import resolve_model
from scaar.core.errors import DataCorrupt, NotFound
from scaar.model_store.installed import InstalledModel
from scaar.model_store.store import ModelStore


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models")


def _install(store: ModelStore, name: str, path: Path, source: str = "hf:a/b/c.gguf") -> None:
    model = InstalledModel(
        name, str(path), source, size_bytes=4, sha256="0" * 64, published=True, owned=True
    )
    model.write(store.record_of(name))


def test_a_model_on_this_machine_resolves_to_its_file(store: ModelStore, tmp_path: Path) -> None:
    file = tmp_path / "c.gguf"
    file.write_bytes(b"GGUF")
    _install(store, "mine", file)
    assert store.resolve("mine") == file
    assert [model.name for model in store.installed()] == ["mine"]


def test_a_path_resolves_to_itself(store: ModelStore, tmp_path: Path) -> None:
    file = tmp_path / "c.gguf"
    file.write_bytes(b"GGUF")
    assert store.resolve(str(file)) == file
    with pytest.raises(NotFound, match=r"none\.gguf is not a file"):
        store.resolve(str(tmp_path / "none.gguf"))


def test_a_missing_model_names_the_command_that_gets_it(store: ModelStore, tmp_path: Path) -> None:
    message = "^the model smollm2-135m is not on this machine: run scaar models get smollm2-135m$"
    with pytest.raises(NotFound, match=message):
        store.resolve("smollm2-135m")
    _install(store, "mine", tmp_path / "deleted.gguf")
    with pytest.raises(NotFound, match=r"run scaar models get hf:a/b/c\.gguf --name mine$"):
        store.resolve("mine")


def test_an_unknown_name_lists_the_catalogue(store: ModelStore) -> None:
    with pytest.raises(
        NotFound, match="^there is no model 'other'; the catalogue has smollm2-135m"
    ):
        store.resolve("other")


def test_a_damaged_record_is_named(store: ModelStore) -> None:
    store.folder.mkdir()
    store.record_of("mine").write_text("{")
    with pytest.raises(DataCorrupt, match=r"mine\.json cannot be read: delete it"):
        store.find("mine")


def test_a_model_of_a_moved_data_folder_can_be_removed(store: ModelStore, tmp_path: Path) -> None:
    _install(store, "mine", tmp_path / "before/models/mine/c.gguf", "package tiny 1.0")
    assert store.remove("mine") == 0
    assert store.installed() == []


def test_models_are_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path))
    file = tmp_path / "c.gguf"
    file.write_bytes(b"GGUF")
    _install(ModelStore(tmp_path / "models"), "mine", file)
    assert resolve_model("mine") == file
