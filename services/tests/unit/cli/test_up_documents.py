import asyncio
import os
from pathlib import Path

import pytest

from scaar.cli.serve.up_documents import UpDocuments, settings_of, up_documents
from scaar.compose import open_indexes
from scaar.core.errors import InvalidRequest
from scaar.model_store.catalogue import DEFAULT_MODEL
from scaar.testing.commands import run_scaar
from scaar.testing.ports import free_port


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a document."""
    path = tmp_path / "My Notes"
    path.mkdir()
    (path / "etna.md").write_text("# Etna\n\nEtna is a volcano in Italy.")
    return path


pytestmark = pytest.mark.usefixtures("home")


def test_the_index_has_the_name_of_the_folder_or_that_of_the_option(folder: Path) -> None:
    named = up_documents(folder, index=None, url_prefix=None)
    assert named is not None
    assert named.name == "my-notes"
    other = up_documents(folder, index="notes", url_prefix="https://a.example")
    assert other is not None
    assert other.name == "notes"
    assert up_documents(None, index=None, url_prefix=None) is None


def test_invalid_options_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="--index: requires --documents"):
        up_documents(None, index="notes", url_prefix=None)
    with pytest.raises(InvalidRequest, match="--url-prefix: requires --documents"):
        up_documents(None, index=None, url_prefix="https://a.example")
    with pytest.raises(InvalidRequest, match="--hybrid: requires --documents"):
        up_documents(None, index=None, url_prefix=None, hybrid=True)
    with pytest.raises(InvalidRequest, match="--words: requires --documents"):
        up_documents(None, index=None, url_prefix=None, hybrid=False)
    with pytest.raises(InvalidRequest, match="--documents: .*none does not exist"):
        up_documents(tmp_path / "none", index=None, url_prefix=None)
    with pytest.raises(InvalidRequest, match="--index: "):
        up_documents(folder, index="My Notes", url_prefix=None)


def test_the_settings_hold_for_the_block_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", "tgi")
    before = dict(os.environ)
    documents = up_documents(folder, index=None, url_prefix=None)
    with settings_of("http://127.0.0.1:8000", documents):
        changed = {name: text for name, text in os.environ.items() if before.get(name) != text}
    assert changed == {
        "SCAAR_GENERATOR_ENGINE": "openai",
        "SCAAR_GENERATOR_URL": "http://127.0.0.1:8000",
        "SCAAR_ORCHESTRATOR_DEFAULT_INDEX": "my-notes",
    }
    assert dict(os.environ) == before


def test_documents_are_indexed_and_indexed_again_when_they_change(folder: Path) -> None:
    documents = up_documents(folder, index=None, url_prefix=None)
    assert documents is not None

    async def keep(documents: UpDocuments) -> list[int]:
        async with open_indexes() as indexes, documents.kept_current(indexes):
            sizes = [(await indexes.describe_index("my-notes")).passages]
            (folder / "teide.md").write_text("# Teide\n\nTeide is a volcano in Spain.")
            while len(sizes) == 1:
                await asyncio.sleep(0.1)
                found = await indexes.describe_index("my-notes")
                sizes += [found.passages] if found.passages != sizes[0] else []
            return sizes

    assert asyncio.run(keep(documents)) == [1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--yes",), "--yes: requires --documents or --model"),
        (("--offline",), "--offline: requires --documents or --model"),
        (
            ("--model", "smollm2-135m", "--model-url", "http://127.0.0.1:1"),
            "--model: cannot be combined with --model-url",
        ),
    ],
)
def test_options_of_a_model_that_do_not_fit_are_refused(
    options: tuple[str, ...], message: str
) -> None:
    ran = run_scaar("up", *options)
    assert (ran.status, ran.out, ran.err) == (2, "", f"scaar: {message}\n")


def test_the_model_of_documents_is_not_downloaded_without_consent(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_DEFAULT_POLICY", "flare")
    ports = ("--base-port", str(free_port()), "--gateway-port", "0", "--console-port", "0")
    ran = run_scaar("up", "--documents", str(folder), "--offline", *ports)
    assert ran.status == 1
    assert ran.err.startswith(f"scaar: the model {DEFAULT_MODEL}")
    assert not (home / "up.json").exists()
