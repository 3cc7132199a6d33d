from pathlib import Path

import pytest

from scaar.cli.index.folder_index import plain_name, read_folder_index_name
from scaar.testing.commands import run_scaar

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders of the same name, with a document each."""
    found = tmp_path / "a/My Handbook", tmp_path / "b/My Handbook"
    for folder in found:
        folder.mkdir(parents=True)
        (folder / "leave.md").write_text(f"# Leave\n\nLeave of {folder.parent.name} is 28 days.")
    return found


def build(name: str, *folders: Path) -> None:
    options = [argument for folder in folders for argument in ("--from", str(folder))]
    assert run_scaar("index", "build", name, *options).status == 0


def test_two_folders_of_one_name_have_two_indexes(folders: tuple[Path, Path]) -> None:
    first, second = folders
    assert read_folder_index_name(first) == read_folder_index_name(second) == "my-handbook"
    build("my-handbook", first)
    assert read_folder_index_name(first) == "my-handbook"
    other = read_folder_index_name(second)
    assert other.startswith("my-handbook-")
    build(other, second)
    assert run_scaar("index", "drop", "my-handbook").status == 0
    assert read_folder_index_name(second) == other


def test_an_index_of_further_passages_is_not_that_of_a_folder(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    build("my-handbook", *folders)
    assert read_folder_index_name(folders[0]) != "my-handbook"
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"id": "1", "title": "Etna", "text": "Etna is a volcano."}\n')
    assert run_scaar("index", "build", "volcanoes", "--corpus", str(corpus)).status == 0
    assert read_folder_index_name(tmp_path / "Volcanoes").startswith("volcanoes-")


def test_every_folder_has_a_valid_name() -> None:
    assert plain_name(Path("/home/a/Handbook 2026")) == "handbook-2026"
    assert plain_name(Path("/home/a/文书")) == plain_name(Path("/")) == "documents"
    assert plain_name(Path("/home/a/lab")) == "lab-documents"
    assert len(plain_name(Path("/home/" + "a" * 200))) < 64
