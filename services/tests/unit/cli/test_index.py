import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scaar.cli.index import app
from scaar.core.errors import AlreadyExists, InvalidRequest, NotFound

PASSAGES = [
    {"id": "a", "title": "Etna", "text": "Etna is a volcano in Italy."},
    {"id": "b", "title": "Fuji", "text": "Mount Fuji is a volcano in Japan."},
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "passages.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, PASSAGES)).encode()))
    return path


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def test_an_index_is_built_listed_described_and_dropped(home: Path, corpus: Path) -> None:
    assert "No index yet" in run("list")
    built = run("build", "--corpus", str(corpus), "--index", "geo")
    assert built.startswith("geo: 2 passages, 0.0 MB, version ")
    assert (home / "indexes" / "geo" / "manifest.json").is_file()
    assert run("list").splitlines()[1].split()[:2] == ["geo", "2"]
    (listed,) = run("list", "--json").splitlines()
    assert json.loads(listed) == json.loads(run("describe", "geo", "--json"))
    assert "passages    2\n" in run("describe", "geo")
    assert run("drop", "geo") == "geo: dropped\n"
    assert "No index yet" in run("list")


def test_an_index_is_replaced_only_on_request(home: Path, corpus: Path) -> None:
    run("build", "--corpus", str(corpus), "--index", "geo")
    with pytest.raises(AlreadyExists, match="--replace"):
        run("build", "--corpus", str(corpus), "--index", "geo")
    run("build", "--corpus", str(corpus), "--index", "geo", "--replace")


@pytest.mark.parametrize("name", ["../x", "A", ""])
def test_a_wrong_name_is_told_before_anything_is_read(home: Path, name: str) -> None:
    with pytest.raises(InvalidRequest, match="index: must be"):
        run("build", "--corpus", "nowhere.jsonl", "--index", name)
    assert not home.exists()


def test_a_wrong_line_is_told_and_leaves_no_index(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "wrong.jsonl"
    path.write_text(f"{json.dumps(PASSAGES[0])}\n{json.dumps(PASSAGES[0])}\n")
    with pytest.raises(InvalidRequest, match=r"wrong.jsonl line 2, id: 'a' is the id of line 1"):
        run("build", "--corpus", str(path), "--index", "geo")
    assert "No index yet" in run("list")


@pytest.mark.parametrize("command", ["describe", "drop"])
def test_an_index_that_is_not_there_is_told(home: Path, command: str) -> None:
    with pytest.raises(NotFound, match="scaar index build"):
        run(command, "geo")


def test_the_environment_may_name_another_folder(
    home: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_RETRIEVER_INDEXES", str(tmp_path / "elsewhere"))
    run("build", "--corpus", str(corpus), "--index", "geo")
    assert (tmp_path / "elsewhere" / "geo").is_dir()
    assert not home.exists()


def test_passages_are_put_into_an_index_and_counted(home: Path, tmp_path: Path) -> None:
    def file(*passages: dict[str, str]) -> str:
        path = tmp_path / "passages.jsonl"
        path.write_text("\n".join(map(json.dumps, passages)))
        return str(path)

    def upsert(corpus: str) -> str:
        return run("build", "--corpus", corpus, "--index", "geo", "--upsert")

    assert upsert(file(*PASSAGES)).startswith("geo: 2 passages (2 added, 0 replaced), 0.0 MB")
    changed = {**PASSAGES[0], "text": "Etna erupts."}
    more = {"id": "c", "title": "", "text": "The Danube is a river."}
    assert upsert(file(changed, more)).startswith("geo: 3 passages (1 added, 1 replaced), ")
    assert json.loads(run("describe", "geo", "--json"))["passages"] == 3


def test_replace_does_not_go_with_upsert(home: Path, corpus: Path) -> None:
    both = ("--replace", "--upsert")
    with pytest.raises(InvalidRequest, match="--upsert: does not go with --replace"):
        run("build", "--corpus", str(corpus), "--index", "geo", *both)
    assert not home.exists()


def test_passages_are_deleted_and_counted(home: Path, corpus: Path) -> None:
    run("build", "--corpus", str(corpus), "--index", "geo")
    assert run("delete", "geo", "a", "nowhere") == "geo: 1 of 2 passages deleted\n"
    assert json.loads(run("describe", "geo", "--json"))["passages"] == 1
