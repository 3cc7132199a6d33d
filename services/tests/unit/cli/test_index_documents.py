import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from scaar.cli.index.commands import app
from scaar.compose import open_indexes
from scaar.core.errors import InvalidRequest
from scaar.core.types import RetrievedPassage, RetrieveRequest
from scaar.database.migration import open_checked_database
from scaar.records.store.schema import SCHEMA
from scaar.testing.answer_records import record_answers
from scaar.testing.commands import run_scaar
from scaar.testing.fakes import InMemoryRetriever
from scaar.testing.processes import running_service
from scaar.testing.word_encoder import write_word_encoder
from tests.unit.core.scripted import UNSURE_OF_PARIS, asking, parts

REPOSITORY = Path(__file__).parents[4]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two documents and a file of another kind."""
    path = tmp_path / "documents"
    path.mkdir()
    (path / "etna.md").write_text("# Etna\n\nEtna is a volcano in Italy.")
    (path / "fuji.html").write_text("<title>Fuji</title><p>Fuji is a volcano in Japan.")
    (path / "program.py").write_text("print()")
    return path


def build(*arguments: str | Path) -> Result:
    command = ["build", "docs", *map(str, arguments)]
    return CliRunner().invoke(app, command, catch_exceptions=False)


def search(query: str, target: str = "embedded") -> tuple[RetrievedPassage, ...]:
    async def retrieve() -> tuple[RetrievedPassage, ...]:
        async with open_indexes(target) as indexes:
            found = await indexes.retrieve(RetrieveRequest((query,), index="docs", top_k=5))
            return found.results[0]

    return asyncio.run(retrieve())


def metadata(passage: RetrievedPassage) -> dict[str, str]:
    return {each.name: each.values[0] for each in passage.metadata}


def test_documents_are_indexed_with_urls_and_found(home: Path, folder: Path) -> None:
    built = build("--from", folder, "--url-prefix", "https://a.example/docs")
    assert built.exit_code == 0
    assert built.stdout.startswith("docs: 2 documents read, 2 added, 0 changed, 0 removed, 0 un")
    assert built.stderr == "docs: left out files of other kinds: .py (1)\n"
    found = search("volcano in Japan")[0]
    assert (found.title, found.text) == ("Fuji", "Fuji is a volcano in Japan.")
    assert metadata(found) == {"source": "fuji.html", "url": "https://a.example/docs/fuji.html"}


def test_the_pages_of_this_repository_are_found_by_section(home: Path) -> None:
    assert build("--from", REPOSITORY / "docs").exit_code == 0
    found = search("Does a filter make a search of nearest vectors exact?")[0]
    assert metadata(found)["source"] == "retriever.md"
    section = "The retriever > Dense indexes > How nearest passages are found"
    assert metadata(found)["section"] == found.title == section


def test_a_second_run_reports_what_changed(home: Path, folder: Path) -> None:
    build("--from", folder)
    (folder / "etna.md").unlink()
    (folder / "alps.txt").write_text("The Alps are high.")
    again = build("--from", folder)
    assert "1 added, 0 changed, 1 removed, 1 unchanged; 2 passages" in again.stdout
    assert build("--from", folder, "--replace").exit_code == 0
    assert build("--from", folder, "--upsert").exit_code == 0


def test_unreadable_files_are_reported_and_the_exit_status_is_1(home: Path, folder: Path) -> None:
    (folder / "bad.txt").write_bytes(b"\xff")
    (folder / "empty.md").write_text("")
    strict = build("--from", folder, "--strict")
    assert strict.exit_code == 1
    assert strict.stdout == ""
    assert f"docs: {folder / 'bad.txt'} is not UTF-8 at byte 0: convert it\n" in strict.stderr
    assert f"docs: {folder / 'empty.md'} is empty\n" in strict.stderr
    assert "2 documents not read: the index is unchanged" in strict.stderr
    built = build("--from", folder)
    assert built.exit_code == 1
    assert built.stdout.startswith("docs: 2 documents read, 2 added")
    assert "2 documents not read: not indexed" in built.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--corpus", "a.jsonl"], "--from: cannot be combined with --corpus"),
        (["--lab"], "--lab: cannot be combined with --from"),
        (["--metadata", "lang"], "--metadata: cannot be combined with --from"),
        (["--clean"], "--clean: cannot be combined with --from"),
        (["--if-needed"], "--if-needed: cannot be combined with --from"),
        (["--watch-every", "1"], "--watch-every: requires --watch"),
        (["--url-prefix", "docs"], "--url-prefix: must be an http or https URL, not 'docs'"),
    ],
)
def test_options_that_do_not_go_with_documents_are_refused(
    home: Path, folder: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        build("--from", folder, *arguments)


@pytest.mark.parametrize("option", ["--strict", "--watch", "--passage-words=50"])
def test_options_of_documents_require_them(home: Path, option: str) -> None:
    with pytest.raises(InvalidRequest, match="requires --from"):
        build("--lab", option)


def test_a_dense_index_of_documents_is_refreshed(
    home: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = write_word_encoder(tmp_path / "words", ["Etna Fuji Alps is a volcano in Italy Japan"])
    monkeypatch.setenv("SCAAR_RETRIEVER_ENCODER", str(encoder))
    assert "2 added" in build("--from", folder, "--search", "exact").stdout
    (folder / "etna.md").unlink()
    (folder / "alps.txt").write_text("Alps is in Italy.")
    assert "1 added, 0 changed, 1 removed, 1 unchanged" in build("--from", folder).stdout
    assert search("Alps in Italy")[0].text == "Alps is in Italy."


@pytest.mark.slow
def test_documents_are_indexed_by_a_running_retriever(
    home: Path, folder: Path, tmp_path: Path
) -> None:
    with running_service("retriever", tmp_path / "served") as service:
        address = ("--address", service.target)
        assert "2 added" in build("--from", folder, *address).stdout
        (folder / "etna.md").unlink()
        assert "1 removed, 1 unchanged" in build("--from", folder, *address).stdout
        assert search("volcano Italy", service.target)[0].title == "Fuji"


@pytest.mark.slow
def test_watching_takes_up_changes_and_stops_at_an_interrupt(home: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "scaar.cli", "index", "build", "docs", "--from", str(folder)]
    with subprocess.Popen(
        [*command, "--watch", "--watch-every", "0.1"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert "2 added" in process.stdout.readline()
        (folder / "alps.txt").write_text("The Alps are high.")
        assert "1 added, 0 changed, 0 removed, 2 unchanged" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    (ledger,) = (home / "documents").iterdir()
    assert len(json.loads(ledger.read_text())["roots"][str(folder.resolve())]) == 3


def test_files_of_the_same_size_and_time_are_not_read_again(home: Path, folder: Path) -> None:
    assert build("--from", folder).exit_code == 0
    file = folder / "etna.md"
    before, text = file.stat(), file.read_text()
    file.write_text(text.replace("Italy", "Spain"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert build("--from", folder).stdout.startswith("docs: 2 documents, unchanged; 2 passages")
    os.utime(file)
    changed = build("--from", folder).stdout
    assert changed.startswith("docs: 2 documents read, 1 added, 0 changed, 1 removed, 1 unchanged")
    other_words = build("--from", folder, "--passage-words", "20").stdout
    assert other_words.startswith("docs: 2 documents read, 0 added")


def test_an_index_that_another_command_changed_is_refreshed(home: Path, folder: Path) -> None:
    assert build("--from", folder).exit_code == 0
    passage = search("Fuji volcano in Japan")[0]
    deleted = CliRunner().invoke(app, ["delete", "docs", passage.id], catch_exceptions=False)
    assert deleted.exit_code == 0
    assert build("--from", folder).stdout.startswith("docs: 2 documents read")
    assert search("Fuji volcano in Japan")[0] == passage


def test_documents_that_cannot_be_read_are_tried_and_named_again(home: Path, folder: Path) -> None:
    (folder / "empty.md").write_text("")
    for _ in range(2):
        assert "empty.md is empty" in build("--from", folder).stderr


def test_a_dropped_index_is_forgotten_and_can_be_built_from_another_folder(
    home: Path, folder: Path, tmp_path: Path
) -> None:
    assert build("--from", folder).exit_code == 0
    assert list((home / "documents").iterdir())
    dropped = CliRunner().invoke(app, ["drop", "docs", "--records"], catch_exceptions=False)
    assert dropped.stdout == "docs: dropped, 0 records of answers deleted\n"
    assert not list((home / "documents").iterdir())
    remote = ["drop", "docs", "--records", "--address", "localhost:1"]
    with pytest.raises(InvalidRequest, match="run scaar records delete --index docs"):
        CliRunner().invoke(app, remote, catch_exceptions=False)


def test_the_records_of_a_dropped_index_are_deleted_and_those_of_others_stay(
    home: Path, folder: Path
) -> None:
    async def record() -> None:
        made = parts(UNSURE_OF_PARIS, retriever=InMemoryRetriever({"lab": [], "docs": []}))
        home.mkdir(exist_ok=True)
        async with open_checked_database(f"sqlite:///{home}/records.sqlite", SCHEMA) as database:
            requests = [replace(asking("flare"), index=index) for index in ("docs", "docs", "lab")]
            await record_answers(database, made.loop(), *requests)

    asyncio.run(record())
    assert build("--from", folder).exit_code == 0
    dropped = CliRunner().invoke(app, ["drop", "docs", "--records"], catch_exceptions=False)
    assert dropped.stdout == "docs: dropped, 2 records of answers deleted\n"
    options = ("--address", "embedded")
    assert run_scaar("records", "delete", "--index", "lab", *options).out == "1 record deleted\n"
