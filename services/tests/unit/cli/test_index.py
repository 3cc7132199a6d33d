import gzip
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from scaar.cli.index.commands import app
from scaar.core.errors import (
    AlreadyExists,
    BackendUnavailable,
    DataCorrupt,
    InvalidRequest,
    NotFound,
)
from scaar.lab.passages import passages_of
from scaar.lab.world import build_world
from scaar.testing.processes import running_service

PASSAGES = [
    {"id": "a", "title": "Etna", "text": "Etna is a volcano in Italy."},
    {"id": "b", "title": "Fuji", "text": "Mount Fuji is a volcano in Japan."},
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "passages.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, PASSAGES)).encode()))
    return path


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """Where a retriever serves, whose data folder is not the command's."""
    with running_service("retriever", tmp_path / "served") as service:
        yield service.target


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def run(*arguments: str) -> str:
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def hint() -> str:
    """The hint of a list without indexes, beside an empty table."""
    listed = invoke("list")
    assert listed.stdout.count("\n") == 2
    return listed.stderr


def test_one_passage_is_reported_in_the_singular(home: Path, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(json.dumps(PASSAGES[0]))
    built = run("build", "--corpus", str(tmp_path / "one.jsonl"), "--index", "geo")
    assert built.startswith("geo: 1 passage, 0.0 MB, version ")


def test_an_index_is_built_listed_described_and_dropped(home: Path, corpus: Path) -> None:
    assert "no index yet; build one" in hint()
    built = run("build", "--corpus", str(corpus), "--index", "geo")
    assert built.startswith("geo: 2 passages, 0.0 MB, version ")
    assert (home / "indexes" / "geo" / "manifest.json").is_file()
    assert run("list").splitlines()[2].startswith("| geo | 2 | 0.0 MB | bm25s |")
    (listed,) = run("list", "--format", "json").splitlines()
    assert json.loads(listed) == json.loads(run("describe", "geo", "--format", "json"))
    assert "| passages | 2 |\n" in run("describe", "geo")
    assert "| metadata_fields | none |\n" in run("describe", "geo")
    assert run("drop", "geo") == "geo: dropped\n"
    assert "no index yet; build one" in hint()


def test_an_index_is_replaced_only_on_request(home: Path, corpus: Path) -> None:
    run("build", "--corpus", str(corpus), "--index", "geo")
    with pytest.raises(AlreadyExists, match="--replace"):
        run("build", "--corpus", str(corpus), "--index", "geo")
    run("build", "--corpus", str(corpus), "--index", "geo", "--replace")


@pytest.mark.parametrize("name", ["../x", "A", ""])
def test_a_wrong_name_is_reported_before_anything_is_read(home: Path, name: str) -> None:
    with pytest.raises(InvalidRequest, match="index: must be"):
        run("build", "--corpus", "nowhere.jsonl", "--index", name)
    assert not home.exists()


def test_a_wrong_line_is_reported_and_leaves_no_index(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "wrong.jsonl"
    path.write_text(f"{json.dumps(PASSAGES[0])}\n{json.dumps(PASSAGES[0])}\n")
    with pytest.raises(
        InvalidRequest, match=r"wrong.jsonl line 2, id: 'a' is already the id of line 1"
    ):
        run("build", "--corpus", str(path), "--index", "geo")
    assert "no index yet; build one" in hint()


@pytest.mark.parametrize("command", ["describe", "drop"])
def test_an_unknown_index_is_reported(home: Path, command: str) -> None:
    with pytest.raises(NotFound, match="scaar index build"):
        run(command, "geo")


def test_the_environment_may_name_another_folder(
    home: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_RETRIEVER_INDEXES", str(tmp_path / "elsewhere"))
    run("build", "--corpus", str(corpus), "--index", "geo")
    assert (tmp_path / "elsewhere" / "geo").is_dir()
    assert not home.exists()


def test_passages_are_added_to_an_index_and_counted(home: Path, tmp_path: Path) -> None:
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
    assert json.loads(run("describe", "geo", "--format", "json"))["passages"] == 3


def test_replace_cannot_be_combined_with_upsert(home: Path, corpus: Path) -> None:
    both = ("--replace", "--upsert")
    with pytest.raises(InvalidRequest, match="--upsert: cannot be combined with --replace"):
        run("build", "--corpus", str(corpus), "--index", "geo", *both)
    assert not home.exists()


def test_an_index_is_built_if_needed_and_otherwise_kept(home: Path, corpus: Path) -> None:
    def build() -> str:
        return run("build", "geo", "--corpus", str(corpus), "--if-needed")

    assert build().startswith("geo: 2 passages, ")
    assert build() == "geo: is intact and stays as it is\n"
    (passages,) = home.glob("indexes/geo/*/passages.jsonl")
    passages.write_text("{}")
    assert build().startswith("geo: 2 passages, ")
    assert build() == "geo: is intact and stays as it is\n"


@pytest.mark.slow
def test_a_build_waits_for_its_retriever(home: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
    build = ("build", "lab", "--lab", "--if-needed", "--address", address)
    with pytest.raises(BackendUnavailable, match="did not report .* as SERVING within 0.5 s"):
        run(*build, "--wait", "0.5")
    with ThreadPoolExecutor(1) as threads:
        built = threads.submit(run, *build, "--wait", "60")
        with running_service("retriever", tmp_path / "served", address=address):
            assert built.result().startswith("lab: ")
    with pytest.raises(InvalidRequest, match="--wait: requires the --address"):
        run("build", "lab", "--lab", "--wait", "1")


def test_a_build_has_one_source_of_passages(home: Path, corpus: Path) -> None:
    with pytest.raises(InvalidRequest, match="--corpus: must be given, or --from, or --lab"):
        run("build", "geo")
    with pytest.raises(InvalidRequest, match="--lab: cannot be combined with --corpus"):
        run("build", "geo", "--corpus", str(corpus), "--lab")
    with pytest.raises(InvalidRequest, match="--seed: requires --lab"):
        run("build", "geo", "--corpus", str(corpus), "--seed", "1")


def test_the_lab_has_an_index_of_the_passages_of_each_world(home: Path) -> None:
    run("build", "first", "--lab", "--seed", "2101")
    run("build", "second", "--lab", "--seed", "2102")
    first, second = (next(home.glob(f"indexes/{x}/*/passages.jsonl")) for x in ("first", "second"))
    expected = {each.id for each in passages_of(build_world(2101))}
    assert {json.loads(line)[0] for line in first.read_text().splitlines()} == expected
    assert first.read_bytes() != second.read_bytes()


def test_passages_are_deleted_and_counted(home: Path, corpus: Path) -> None:
    run("build", "--corpus", str(corpus), "--index", "geo")
    assert run("delete", "geo", "a", "nowhere") == "geo: 1 of 2 passages deleted\n"
    assert json.loads(run("describe", "geo", "--format", "json"))["passages"] == 1


def test_the_name_is_an_argument_or_an_option(home: Path, corpus: Path) -> None:
    assert run("build", "geo", "--corpus", str(corpus)).startswith("geo: 2 passages, ")
    for names in ((), ("geo", "--index", "geo")):
        with pytest.raises(
            InvalidRequest, match="NAME: must be given once, as an argument or as --index"
        ):
            run("build", *names, "--corpus", str(corpus))


def carrying(folder: Path, *metadata: object) -> str:
    path = folder / "carrying.jsonl"
    records = [{**PASSAGES[0], "id": f"c{n}", "metadata": each} for n, each in enumerate(metadata)]
    path.write_text("\n".join(map(json.dumps, records)))
    return str(path)


def test_fields_of_metadata_are_declared_and_kept(home: Path, tmp_path: Path) -> None:
    corpus = carrying(tmp_path, {"tenant": "acme", "lang": ["en", "de"]}, {"lang": None}, None)
    run("build", "geo", "--corpus", corpus, "--metadata", "tenant,lang")
    assert json.loads(run("describe", "geo", "--format", "json"))["metadata_fields"] == [
        "lang",
        "tenant",
    ]
    assert "| metadata_fields | lang, tenant |\n" in run("describe", "geo")
    assert "(0 added, 1 replaced)" in run(
        "add", "geo", "--corpus", carrying(tmp_path, {"tenant": "beta"})
    )
    assert json.loads(run("describe", "geo", "--format", "json"))["metadata_fields"] == [
        "lang",
        "tenant",
    ]
    run("build", "geo", "--corpus", corpus, "--metadata", "lang", "--metadata=tenant", "--replace")
    with pytest.raises(InvalidRequest, match=r"\(lang, tenant\): missing: tenant"):
        run("build", "geo", "--corpus", corpus, "--metadata", "lang", "--upsert")


def test_a_field_that_is_not_declared_is_reported_with_its_line(home: Path, tmp_path: Path) -> None:
    corpus = carrying(tmp_path, None, {"url": "https://a.example"})
    message = (
        r"carrying.jsonl line 2, metadata.url: is not a declared field .*\(none\), in passage 'c1'"
    )
    with pytest.raises(InvalidRequest, match=f"{message}; --metadata declares fields"):
        run("build", "geo", "--corpus", corpus)
    assert "no index yet; build one" in hint()
    run("build", "geo", "--corpus", corpus, "--ignore-metadata")
    with pytest.raises(InvalidRequest, match=message):
        run("add", "geo", "--corpus", corpus)
    assert "2 replaced" in run("add", "geo", "--corpus", corpus, "--ignore-metadata")
    with pytest.raises(
        InvalidRequest, match="--ignore-metadata: cannot be combined with --metadata"
    ):
        run("build", "geo", "--corpus", corpus, "--ignore-metadata", "--metadata", "url")


def test_invalid_declared_fields_are_reported_before_anything_is_read(home: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"metadata_fields\[1\]: must be a letter a to z"):
        run("build", "geo", "--corpus", "nowhere.jsonl", "--metadata", "lang, tenant")
    assert not home.exists()


def test_nothing_is_added_to_an_unknown_index(home: Path, corpus: Path) -> None:
    with pytest.raises(NotFound, match="build it: scaar index build geo --corpus"):
        run("add", "geo", "--corpus", str(corpus))
    assert "no index yet; build one" in hint()


def test_ids_to_delete_may_be_in_a_file(home: Path, corpus: Path, tmp_path: Path) -> None:
    run("build", "geo", "--corpus", str(corpus))
    ids = tmp_path / "ids.txt"
    ids.write_text("\ufeffa\r\n\nnowhere\n \n", encoding="utf-8")
    assert run("delete", "geo", "--ids", str(ids)) == "geo: 1 of 2 passages deleted\n"
    with pytest.raises(InvalidRequest, match="ID: is missing"):
        run("delete", "geo")
    with pytest.raises(InvalidRequest, match="--ids: .*gone.* cannot be read"):
        run("delete", "geo", "--ids", str(tmp_path / "gone.txt"))


def test_an_index_is_verified_and_a_damaged_one_listed(home: Path, corpus: Path) -> None:
    run("build", "geo", "--corpus", str(corpus))
    found = invoke("verify", "geo")
    assert "| ok | manifest.json |" in found.stdout
    assert "FAILED" not in found.stdout
    assert found.stderr.startswith("geo: intact, version ")
    checks = [
        json.loads(line) for line in invoke("verify", "geo", "--format", "json").stdout.splitlines()
    ]
    assert all(each["passed"] for each in checks)
    (passages,) = home.glob("indexes/geo/*/passages.jsonl")
    passages.write_bytes(passages.read_bytes()[:-1])
    found = invoke("verify", "geo")
    assert found.exit_code == 1
    assert "| FAILED | passages.jsonl |" in found.stdout
    assert "geo: damaged, 1 of " in found.stderr
    listed = invoke("list")
    assert "| damaged |" in listed.stdout.splitlines()[2]
    assert "geo is damaged: passages.jsonl has " in listed.stderr
    (line,) = invoke("list", "--format", "json").stdout.splitlines()
    assert json.loads(line)["damage"].startswith("passages.jsonl has ")
    with pytest.raises(DataCorrupt):
        run("describe", "geo")
    with pytest.raises(NotFound):
        run("verify", "nowhere")


@pytest.mark.slow
def test_a_running_retriever_keeps_its_indexes_by_the_same_commands(
    home: Path, corpus: Path, served: str
) -> None:
    at = ("--address", served)
    run("build", "geo", "--corpus", str(corpus), *at)
    assert "(0 added, 2 replaced)" in run("add", "geo", "--corpus", str(corpus), *at)
    names = [json.loads(line)["name"] for line in run("list", "--format", "json", *at).splitlines()]
    assert names == ["geo", "lab"]
    assert "geo: intact" in invoke("verify", "geo", *at).stderr
    assert "1 of 1 passage deleted" in run("delete", "geo", "a", *at)
    assert "| passages | 1 |\n" in run("describe", "geo", *at)
    run("drop", "geo", *at)
    assert not home.exists()
