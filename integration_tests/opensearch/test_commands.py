"""The commands and the service on OpenSearch, as a user runs them."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from opensearchpy import OpenSearch
from typer.testing import CliRunner

from scaar.cli.index.commands import app as index_app
from scaar.cli.main import app as main_app
from scaar.core.errors import AlreadyExists, NotFound
from scaar.testing.commands import run_scaar

from ..servers.opensearch.node import Node

PASSAGES = [
    {"id": "a", "title": "Etna", "text": "Etna is a volcano in Italy."},
    {"id": "b", "title": "Fuji", "text": "Mount Fuji is a volcano in Japan."},
]


@pytest.fixture
def run(shared_node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run a command whose retriever uses the shared node."""
    settings = {
        "ENGINE": "opensearch",
        "OPENSEARCH_URLS": f'["http://{shared_node.address}"]',
        "OPENSEARCH_PREFIX": f"{tmp_path.name[:40].lower().replace('_', '-')}-",
        "OPENSEARCH_REPLICAS": "0",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"SCAAR_RETRIEVER_{name}", value)
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path / "home"))

    def run(*arguments: str) -> str:
        app = index_app if arguments[0] == "index" else main_app
        rest = arguments[1:] if app is index_app else arguments
        result = CliRunner().invoke(app, list(rest), catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    return run


def test_an_index_is_built_searched_changed_and_dropped(
    run: Callable[..., str], tmp_path: Path
) -> None:
    corpus = tmp_path / "passages.jsonl.gz"
    corpus.write_bytes(gzip.compress("\n".join(map(json.dumps, PASSAGES)).encode()))
    build = ("index", "build", "--corpus", str(corpus), "--index", "geo")
    assert run(*build).startswith("geo: 2 passages, 0.0 MB, version ")
    with pytest.raises(AlreadyExists, match="--replace"):
        run(*build)
    run(*build, "--replace")
    assert "(0 added, 2 replaced)" in run(*build, "--upsert")
    (listed,) = run("index", "list", "--format", "json").splitlines()
    assert json.loads(listed)["engine"] == "opensearch"
    (found,) = run("search", "Japan", "--index", "geo", "--format", "json").splitlines()
    assert json.loads(found)["id"] == "b"
    assert run("index", "delete", "geo", "b") == "geo: 1 of 1 passage deleted\n"
    assert run("search", "Japan", "--index", "geo", "--format", "json") == ""
    run("index", "drop", "geo")
    with pytest.raises(NotFound, match="scaar index build"):
        run("index", "describe", "geo")
    assert not (tmp_path / "home" / "indexes").exists()


def test_a_server_is_a_target_by_its_address(
    shared_node: Node, run: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SCAAR_RETRIEVER_ENGINE")
    monkeypatch.delenv("SCAAR_RETRIEVER_OPENSEARCH_URLS")
    corpus = tmp_path / "passages.jsonl"
    corpus.write_text("\n".join(map(json.dumps, PASSAGES)))
    target = ("--address", f"http://{shared_node.address}")
    run("index", "build", "geo", "--corpus", str(corpus), *target)
    (found,) = run("search", "Japan", "--index", "geo", "--format", "json", *target).splitlines()
    assert json.loads(found)["id"] == "b"
    assert run("index", "list", "--format", "json") == "", "this machine has none"
    run("index", "drop", "geo", *target)


def test_metadata_is_declared_filtered_and_verified(
    run: Callable[..., str], tmp_path: Path
) -> None:
    corpus = tmp_path / "passages.jsonl"
    records = [
        {**each, "metadata": {"tenant": tenant}}
        for each, tenant in zip(PASSAGES, ("acme", "beta"), strict=True)
    ]
    corpus.write_text("\n".join(map(json.dumps, records)))
    run("index", "build", "geo", "--corpus", str(corpus), "--metadata", "tenant,lang")
    assert "(0 added, 2 replaced)" in run("index", "add", "geo", "--corpus", str(corpus))
    by_filter = ("--filter", "tenant=acme", "--format", "json")
    (found,) = run("search", "volcano", "--index", "geo", *by_filter).splitlines()
    assert json.loads(found)["id"] == "a"
    assert json.loads(found)["metadata"] == {"tenant": ["acme"]}
    assert "FAILED" not in run("index", "verify", "geo")
    (listed,) = run("index", "list", "--format", "json").splitlines()
    assert json.loads(listed)["metadata_fields"] == ["lang", "tenant"]
    run("index", "drop", "geo")


def test_a_question_is_answered_from_an_index_on_the_server(
    run: Callable[..., str], tmp_path: Path
) -> None:
    question = "Who is the spouse of the director of the film The Haunted Fountain?"
    unasked = run_scaar("ask", question)
    assert unasked.status == 1
    assert "no index 'lab'" in unasked.err
    assert run("index", "list", "--format", "json") == ""
    corpus = tmp_path / "lab.jsonl"
    corpus.write_text(run("lab", "passages", "--seed", "2000"))
    run("index", "build", "--corpus", str(corpus), "--index", "lab")
    last = json.loads(run("ask", question, "--json").splitlines()[-1])
    assert last["retrievals"] > 0
    assert json.loads(run("index", "describe", "lab", "--format", "json"))["engine"] == "opensearch"


def test_the_doctor_reports_a_damaged_index_on_the_server(
    run: Callable[..., str], shared_node: Node, tmp_path: Path
) -> None:
    corpus = tmp_path / "passages.jsonl"
    corpus.write_text("\n".join(map(json.dumps, PASSAGES)))
    run("index", "build", "geo", "--corpus", str(corpus))
    assert "geo (2 passages)" in run_scaar("doctor").out
    with OpenSearch(f"http://{shared_node.address}") as raw:
        alias = f"{os.environ['SCAAR_RETRIEVER_OPENSEARCH_PREFIX']}geo"
        raw.indices.put_settings(index=alias, body={"index.blocks.write": False})
        raw.delete(index=alias, id="a", refresh=True)
    reported = run_scaar("doctor")
    assert reported.status == 1
    assert "has 1 passages, not 2" in " ".join(reported.out.split())
    listed = run("index", "list", "--format", "json")
    assert json.loads(listed)["damage"].endswith("has 1 passages, not 2")
    run("index", "drop", "geo")


def test_an_index_of_documents_is_refreshed(run: Callable[..., str], tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    for passage in PASSAGES:
        (folder / f"{passage['id']}.md").write_text(f"# {passage['title']}\n\n{passage['text']}\n")
    build = ("index", "build", "geo", "--from", str(folder))
    assert "2 added, 0 changed, 0 removed, 0 unchanged; 2 passages" in run(*build)
    assert "2 documents, unchanged; 2 passages" in run(*build)
    (folder / "a.md").unlink()
    (folder / "c.txt").write_text("Vesuvius is a volcano in Italy.")
    (folder / "b.md").write_text("# Mount Fuji\n\nMount Fuji is a volcano in Japan.\n")
    assert "1 added, 1 changed, 1 removed, 0 unchanged; 2 passages" in run(*build)
    found = run("search", "volcano", "--index", "geo", "--format", "json").splitlines()
    sources = {json.loads(line)["title"]: json.loads(line)["metadata"] for line in found}
    assert sources == {
        "Mount Fuji": {"section": ["Mount Fuji"], "source": ["b.md"]},
        "c": {"source": ["c.txt"]},
    }
    run("index", "drop", "geo")
