"""The records of ``scaar up``: where they are written, and which texts they have."""

import os
from pathlib import Path

import pytest

from scaar.cli.serve.up_records import records_notice, records_settings
from scaar.core.records import RecordContent
from scaar.orchestrator.settings import OrchestratorSettings

PREFIX = "SCAAR_ORCHESTRATOR_RECORDS_"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path))
    for name in ("DATABASE", "DATABASE_FILE", "CONTENT"):
        monkeypatch.delenv(f"{PREFIX}{name}", raising=False)


def added(content: RecordContent) -> tuple[str, str]:
    """Return database and content within the block; the environment is unchanged after it."""
    before = dict(os.environ)
    with records_settings(content):
        found = os.environ.get(f"{PREFIX}DATABASE", ""), os.environ.get(f"{PREFIX}CONTENT", "")
    assert dict(os.environ) == before
    return found


def test_records_are_written_on_this_machine_with_the_texts_of_the_option(tmp_path: Path) -> None:
    database, content = added(RecordContent.HASHED)
    assert database.startswith(f"sqlite:///{tmp_path}")
    assert content == "hashed"


def test_other_settings_of_records_leave_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}HASH_KEY_FILE", "/run/key")
    monkeypatch.setenv(f"{PREFIX}MAX_RECORD_KIB", "64")
    assert added(RecordContent.HASHED)[1] == "hashed"
    monkeypatch.setenv(f"{PREFIX}CONTENT", "none")
    assert added(RecordContent.FULL)[0].startswith("sqlite:///")
    assert added(RecordContent.FULL)[1] == "none"


def test_a_database_of_the_settings_has_their_content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}DATABASE", "postgresql://db/records")
    assert added(RecordContent.FULL) == ("postgresql://db/records", "")
    monkeypatch.delenv(f"{PREFIX}DATABASE")
    monkeypatch.setenv(f"{PREFIX}DATABASE_FILE", "/run/database")
    assert added(RecordContent.FULL) == ("", "")


def notice(content: RecordContent) -> str:
    with records_settings(content):
        return records_notice(OrchestratorSettings.read())


def test_the_start_says_which_texts_are_kept_and_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "records.sqlite"
    assert notice(RecordContent.FULL) == (
        f"Records: questions and answers are kept with their texts in {file}; --records none keeps "
        "numbers only"
    )
    assert "without texts" in notice(RecordContent.HASHED)
    assert notice(RecordContent.NONE) == ""
    assert records_notice(OrchestratorSettings.read()) == ""
    monkeypatch.setenv(f"{PREFIX}DATABASE", "postgresql://user:secret@db/records")
    monkeypatch.setenv(f"{PREFIX}CONTENT", "full")
    assert "secret" not in notice(RecordContent.FULL)
