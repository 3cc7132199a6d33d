import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from scaar.cli.index.commands import app as index_app
from scaar.cli.index.search import search
from scaar.core.errors import BackendUnavailable, InvalidRequest, NotFound
from scaar.lab.defaults import INDEX_VERSION

app = typer.Typer()
app.command()(search)

TABLE = ("--format", "table")


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False, env={"COLUMNS": "60"})
    assert result.exit_code == 0, result.output
    return result


def index(
    folder: Path, *passages: dict[str, object], name: str = "geo", metadata: str | None = None
) -> None:
    path = folder / "passages.jsonl"
    path.write_text("\n".join(map(json.dumps, passages)))
    declared = [] if metadata is None else ["--metadata", metadata]
    built = CliRunner().invoke(index_app, ["build", name, "--corpus", str(path), *declared])
    assert built.exit_code == 0, built.exception


def test_the_lab_is_indexed_at_its_first_search(home: Path) -> None:
    found = run("The Drowned Bridge", "--top-k", "2", *TABLE)
    assert found.stdout.splitlines()[0].endswith("film-0000  The Drowned Bridge")
    assert (home / "indexes" / "lab").is_dir()
    assert run("The Drowned Bridge", "--top-k", "2", *TABLE).stdout == found.stdout


def test_the_labs_index_is_that_of_the_world_as_it_is_now(home: Path, tmp_path: Path) -> None:
    index(tmp_path, {"id": "film-0000", "text": "A film of an earlier world."}, name="lab")
    found = run("The Drowned Bridge", "--top-k", "1", *TABLE)
    assert found.stdout.splitlines()[0].endswith("film-0000  The Drowned Bridge")
    (described,) = CliRunner().invoke(index_app, ["list", "--format", "json"]).stdout.splitlines()
    assert json.loads(described)["version"] == INDEX_VERSION


def test_json_has_a_whole_passage_a_line(home: Path, tmp_path: Path) -> None:
    text = "A volcano. " * 20
    index(tmp_path, {"id": "a", "title": "Etna", "text": text}, {"id": "b", "text": "A river."})
    (line,) = run("volcano", "--index", "geo", "--format", "json").stdout.splitlines()
    found = json.loads(line)
    assert found.pop("score") > 0
    assert found == {"rank": 1, "id": "a", "title": "Etna", "text": text, "metadata": {}}


def test_a_passage_is_shown_on_two_lines_of_the_terminal(home: Path, tmp_path: Path) -> None:
    index(tmp_path, {"id": "a", "title": "[red]Etna[/]", "text": "A\nvolcano. " * 20})
    head, text = run("volcano", "--index", "geo", *TABLE).stdout.splitlines()
    assert head.startswith("1  0.")
    assert head.endswith("  a  [red]Etna[/]")
    assert text.startswith("   A volcano. A volcano.")
    assert text.endswith("…")
    assert len(text) == 60


def test_an_empty_result_is_reported_on_standard_error(home: Path, tmp_path: Path) -> None:
    index(tmp_path, {"id": "a", "text": "volcano"})
    found = run("zebra", "--index", "geo", "--format", "json")
    assert found.stdout == ""
    assert "no passage of geo" in found.stderr


def test_a_filter_excludes_passages_that_do_not_match(home: Path, tmp_path: Path) -> None:
    acme, beta = {"tenant": "acme", "lang": ["en", "de"]}, {"tenant": "beta"}
    index(
        tmp_path,
        {"id": "a", "text": "A volcano.", "metadata": acme},
        {"id": "b", "text": "A volcano.", "metadata": beta},
        metadata="tenant,lang",
    )
    (line,) = run(
        "volcano", "--index", "geo", "--filter", "tenant=acme", "--format", "json"
    ).output.split("\n")[:-1]
    assert json.loads(line)["id"] == "a"
    assert json.loads(line)["metadata"] == {"tenant": ["acme"], "lang": ["en", "de"]}
    both = ("--filter", "tenant=acme,beta", "--filter", "lang=fr")
    assert "that matches the filters" in run("volcano", "--index", "geo", *both).stderr
    with pytest.raises(InvalidRequest, match=r"filters\[0\].field: the index 'geo' declares no"):
        run("volcano", "--index", "geo", "--filter", "licence=free")


def test_excluded_passages_are_not_returned(home: Path, tmp_path: Path) -> None:
    index(tmp_path, *({"id": each, "text": "A volcano."} for each in "abc"))
    arguments = ("volcano", "--index", "geo", "--format", "json", "--exclude", "a")
    found = run(*arguments, "--exclude", "c", "--top-k", "1").stdout.splitlines()
    assert [json.loads(each)["id"] for each in found] == ["b"]
    excluded = run(*arguments, "--exclude", "b", "--exclude", "c")
    assert excluded.stdout == ""
    assert "no passage of geo that is not excluded" in excluded.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([""], r"queries\[0\]: must not be empty"),
        (["x" * 32_769], r"queries\[0\]: must have at most 32,768 characters"),
        (["x", "--top-k", "0"], "top_k: must be 1 to 100, not 0"),
        (["x", "--top-k", "101"], "top_k: must be 1 to 100, not 101"),
        (["x", "--index", "../lab"], "index: must be"),
        (["x", "--filter", "tenant"], "--filter: must be field=value"),
        (["x", "--exclude", ""], r"excluded_ids\[0\]: must have 1 to 512 characters, not 0"),
        (["x", "--filter", "Tenant=a"], r"filters\[0\].field: must be a letter"),
    ],
)
def test_an_error_is_reported_before_any_work(
    home: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        run(*arguments)
    assert not home.exists()


def test_an_unknown_index_is_reported(home: Path) -> None:
    with pytest.raises(NotFound, match="no index 'geo'"):
        run("x", "--index", "geo")


def test_an_unreachable_address_is_reported(home: Path) -> None:
    with pytest.raises(BackendUnavailable, match=r"dns:///127\.0\.0\.1:1"):
        run("x", "--address", "dns:///127.0.0.1:1")
    assert not home.exists()
