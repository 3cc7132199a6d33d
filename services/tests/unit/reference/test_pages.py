"""The generated parts of the pages of docs/ are up to date."""

import re
from pathlib import Path

import pytest

from reference.__main__ import ROOT, main, pages
from reference.markdown import plain, replace_parts, table
from scaar.cli.serve.services import HTTP_PORTS, ServiceName
from scaar.cli.settings import read_every, settings_class
from scaar.runtime.config_file import CONFIG_VARIABLE, ConfigFile
from scaar.wire.status import STATUS_CODES

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def generated() -> dict[str, dict[str, str]]:
    return {name: dict(parts) for name, parts in pages().items()}


def test_the_pages_are_up_to_date(generated: dict[str, dict[str, str]]) -> None:
    for name, parts in generated.items():
        page = (DOCS / name).read_text()
        assert replace_parts(page, parts) == page, f"docs/{name}: run make proto"


def test_the_contract_page_has_every_declaration_with_its_comment(
    generated: dict[str, dict[str, str]],
) -> None:
    contract = generated["contract.md"]["contract"]
    for path in (ROOT / "proto").rglob("*.proto"):
        # Options are described where they are used.
        text = re.sub(r"^extend .*?^}", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
        for kind, name in re.findall(r"^(service|message|enum) (\w+)", text, re.MULTILINE):
            assert f"\n### {name}\n" in contract, kind
        for name, number in re.findall(r"^\s+(?:\w+ )*?(\w+) = (\d+)[ ;]", text, re.MULTILINE):
            assert f"\n| `{name}` | {number} | " in contract
    rows = [line for line in contract.splitlines() if line.startswith("| `")]
    assert not [row for row in rows if row.endswith("|  |")], "buf holds every line to a comment"


@pytest.mark.parametrize(
    "row",
    [
        "| `event` | 1 | [AnswerEvent](#answerevent) |  | The step. |",
        "| `id` | 1 | int32 |  | The id in the model's vocabulary, at least 0. Also 0 if the",
        "| `sentences` | 1 | [SentenceToScore](#sentencetoscore) | repeated | The sentences, with",
        "| `top_k` | 4 | int32 | optional | Maximum number of passages per query, 1 to 100. |",
        "INVALID_ARGUMENT otherwise. Limit: 256 values, 256 characters each. |",
        "\nAt most 262,144 bytes and 8,192 values.\n",
        "| `end` | 3 | [GenerationEnd](#generationend) | one of event | The end of the generation",
        "| `MOMENT_UNCERTAIN_DRAFT` | 4 | For every draft that the trigger finds uncertain. |",
        "stream [GenerateResponse](#generateresponse)",
        "| `IndexPassages` | stream [IndexPassagesRequest](#indexpassagesrequest) | [IndexPassages",
    ],
)
def test_the_contract_page_has_types_labels_and_comments(
    generated: dict[str, dict[str, str]], row: str
) -> None:
    assert row in generated["contract.md"]["contract"]


def test_the_table_of_errors_has_the_rows_of_the_status_table(
    generated: dict[str, dict[str, str]],
) -> None:
    _, _, *rows = generated["contract.md"]["errors"].splitlines()
    cells = [tuple(cell.strip(" `") for cell in row.split("|")[1:6]) for row in rows]
    assert [(reason, status, name) for reason, status, _, _, name in cells] == [
        (kind.reason, code.name, kind.__name__) for kind, code in STATUS_CODES.items()
    ]
    beside = {reason: details for reason, _, details, _, _ in cells if details}
    assert beside == {
        "PROMPT_TOO_LONG": "BadRequest",
        "INVALID_REQUEST": "BadRequest",
        "OVERLOADED": "RetryInfo",
        "BACKEND_UNAVAILABLE": "RetryInfo` if known",
    }


def test_the_configuration_page_has_every_setting_once(
    generated: dict[str, dict[str, str]],
) -> None:
    parts = generated["configuration.md"]
    common = re.findall(r"^\| `(\w+)`", parts["every service"], re.MULTILINE)
    for service in ServiceName:
        own = re.findall(r"^\| `(\w+)`", parts[service], re.MULTILINE)
        # Services of HTTP have no gRPC server: their tables are complete by themselves.
        shared = [] if service in HTTP_PORTS else common
        assert [*shared, *own] == list(settings_class(service).model_fields)


@pytest.mark.parametrize(
    ("part", "row"),
    [
        (
            "every service",
            "| `drain_s`<br>`SCAAR_<SERVICE>_DRAIN_S` | number, at least 0 | `0` | Seconds",
        ),
        (
            "every service",
            "| `reflection`<br>`SCAAR_<SERVICE>_REFLECTION` | true or false | `true`",
        ),
        ("generator", "| `model`<br>`SCAAR_GENERATOR_MODEL` | text | unset | Model to run."),
        (
            "scorer",
            "| `threads`<br>`SCAAR_SCORER_THREADS` | whole number, 1 to 256 | `2` | Number",
        ),
        ("scorer", "`SCAAR_SCORER_PADDING` | `longest` or `bucket` | `longest` | Length"),
        (
            "query-builder",
            "| `engine`<br>`SCAAR_QUERY_BUILDER_ENGINE` | `local` | `local` | Engine",
        ),
        ("retriever", "| `preload`<br>`SCAAR_RETRIEVER_PRELOAD` | list of text | none | Names"),
        ("orchestrator", "`SCAAR_ORCHESTRATOR_SCORER_TIMEOUT_S` | number, over 0 | `10` | Maximum"),
    ],
)
def test_the_configuration_page_has_types_defaults_and_docstrings(
    generated: dict[str, dict[str, str]], part: str, row: str
) -> None:
    assert row in generated["configuration.md"][part]


def test_the_example_of_the_page_can_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CONFIG_VARIABLE, raising=False)
    (example,) = re.findall(
        r"```yaml\n(.*?)```", (DOCS / "configuration.md").read_text(), re.DOTALL
    )
    path = tmp_path / "scaar.yaml"
    path.write_text(example)
    settings = read_every(ConfigFile.read(path))
    assert all(settings[service].model_fields_set for service in ServiceName)
    orchestrator = settings[ServiceName.ORCHESTRATOR].model_dump()
    assert orchestrator["retriever_target"] == "dns:///retriever:50055"


def test_text_is_escaped() -> None:
    assert plain("a ** b,\n``x * y``, <b> and :class:`~scaar.core.Word`") == (
        r"a \*\* b, `x * y`, \<b> and `Word`"
    )
    assert table(["a", "b"], [["x | y", ""]]) == "| a | b |\n| --- | --- |\n| x \\| y |  |"


def test_only_the_text_between_markers_is_replaced() -> None:
    page = "A\n<!-- made by make proto: x -->\nold\n<!-- end -->\nB\n"
    once = replace_parts(page, {"x": "new"})
    assert once == "A\n<!-- made by make proto: x -->\n\nnew\n\n<!-- end -->\nB\n"
    assert replace_parts(once, {"x": "new"}) == once


@pytest.mark.parametrize("parts", [{}, {"x": "", "y": ""}, {"y": ""}])
def test_parts_and_markers_must_match(parts: dict[str, str]) -> None:
    page = "<!-- made by make proto: x -->\n<!-- end -->\n"
    with pytest.raises(ValueError, match="has markers for"):
        replace_parts(page, parts)


def test_the_check_names_a_page_that_is_out_of_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    stale = "<!-- made by make proto: x -->\nold\n<!-- end -->\n"
    (tmp_path / "docs" / "a.md").write_text(stale)
    monkeypatch.setattr("reference.__main__.ROOT", tmp_path)
    monkeypatch.setattr("reference.__main__.pages", lambda: {"a.md": {"x": "new"}})
    monkeypatch.setattr("reference.__main__.chart_files", lambda root: {})
    monkeypatch.setattr("sys.argv", ["reference", "--check"])
    assert main() == 1
    assert capsys.readouterr().err == "docs/a.md is out of date: run make proto\n"
    assert (tmp_path / "docs" / "a.md").read_text() == stale
    monkeypatch.setattr("sys.argv", ["reference"])
    assert main() == 0
    monkeypatch.setattr("sys.argv", ["reference", "--check"])
    assert main() == 0
