import asyncio
import os
from pathlib import Path

import pytest

from scaar.cli.serve.up_documents import UpDocuments, settings_of, up_documents
from scaar.compose import open_indexes
from scaar.core.errors import InvalidRequest


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
        "SCAAR_GATEWAY_DEFAULT_INDEX": "my-notes",
    }
    assert dict(os.environ) == before


def test_documents_are_indexed_unless_stopped_first(folder: Path) -> None:
    async def start(documents: UpDocuments | None, *, stop_first: bool) -> tuple[bool, int]:
        assert documents is not None
        stopping = asyncio.Event()
        stopped = asyncio.create_task(stopping.wait())
        if stop_first:
            stopping.set()
            await stopped
        started = await documents.start("embedded", stopped)
        await documents.close()
        stopped.cancel()
        async with open_indexes() as indexes:
            return started, len(await indexes.list_indexes())

    for stop_first, expected in ((True, (False, 0)), (False, (True, 1))):
        documents = up_documents(folder, index=None, url_prefix=None)
        assert asyncio.run(start(documents, stop_first=stop_first)) == expected
