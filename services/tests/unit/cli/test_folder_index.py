import asyncio
from pathlib import Path

import pytest

from scaar.cli.ask.documents import AskedDocuments
from scaar.cli.index.folder_index import plain_name, read_folder_index_name
from scaar.compose import open_indexes
from scaar.testing.commands import run_scaar
from scaar.testing.english import remove_english

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


def modes_of(name: str) -> tuple[bool, bool]:
    """Return whether an index has words, and whether it has vectors."""

    async def described() -> tuple[bool, bool]:
        async with open_indexes() as indexes:
            index = await indexes.describe_index(name)
            return index.dense is None or index.dense.settings.words, index.dense is not None

    return asyncio.run(described())


@pytest.mark.parametrize(
    ("hybrid", "modes"), [(None, (True, True)), (True, (True, True)), (False, (True, False))]
)
def test_a_new_index_of_a_folder_has_vectors_with_an_encoder_unless_it_is_to_have_words(
    folders: tuple[Path, Path],
    sentence_encoder_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    hybrid: bool | None,
    modes: tuple[bool, bool],
) -> None:
    monkeypatch.setenv("SCAAR_RETRIEVER_ENCODER", str(sentence_encoder_folder))
    name = asyncio.run(AskedDocuments(folders[0], None, hybrid=hybrid).index())
    assert modes_of(name) == modes


def test_an_index_of_a_folder_keeps_its_words_when_an_encoder_is_added(
    folders: tuple[Path, Path], sentence_encoder_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove_english(monkeypatch)
    documents = AskedDocuments(folders[0], None)
    name = asyncio.run(documents.index())
    monkeypatch.setenv("SCAAR_RETRIEVER_ENCODER", str(sentence_encoder_folder))
    (folders[0] / "travel.md").write_text("# Travel\n\nA day abroad is 50 euros.")
    assert asyncio.run(documents.index()) == name
    assert modes_of(name) == (True, False)
