import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scaar.cli.dataset import app
from scaar.cli.main import app as main_app
from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets import KINDS
from scaar.evaluator.datasets.loader import open_dataset
from scaar.retriever.corpus.corpus import CorpusFile

FIXTURES = Path(__file__).parents[1] / "evaluator" / "datasets" / "fixtures"
HOTPOTQA = FIXTURES / "hotpotqa.json"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_every_data_set_is_listed_with_its_layout() -> None:
    listed = [json.loads(line) for line in run("list", "--format", "json").splitlines()]
    assert [each["name"] for each in listed] == list(KINDS)
    assert listed[4]["layout"] == '{"question", "answer": [...]}'
    assert '| nq | NQ-open | {"question", "answer": [...]} |\n' in run("list")


def test_a_data_set_is_shown_with_counts_labels_and_first_questions() -> None:
    output = run("show", "hotpotqa", HOTPOTQA, "--first", 1)
    assert "| questions | 10, about 10 entities |\n" in output
    assert "| answers | 1 to 1 per question, 1.0 on average |\n" in output
    assert "| type | bridge 7, comparison 3 |\n" in output
    assert "| level | easy 4, medium 3, hard 3 |\n" in output
    assert "| published as | unknown checksum |\n" in output
    assert output.endswith(
        "\n5a0000000000000000000000  In which town was the director of The Glass Orchard born?\n"
        "  = Ostermoor\n"
    )


def test_excluded_questions_and_hidden_answers_are_counted(tmp_path: Path) -> None:
    assert "| left out | 2: has no answer |\n" in run("show", "iirc", FIXTURES / "iirc.json")
    many = tmp_path / "many.jsonl"
    record = {"question": "Who?", "answers": list("abcdef")}
    many.write_text(
        "\n".join(
            json.dumps({**record, "id": number, "labels": {"kind": str(number)}})
            for number in range(15)
        )
    )
    output = run("show", "jsonl", many)
    assert "  = a | b | c | d and 2 more\n" in output
    assert "| kind | 0 1, 1 1, 2 1" in output
    assert " and 3 more |\n" in output


def test_the_labs_questions_are_shown_without_a_file() -> None:
    output = run("show", "lab", "--seed", 2001, "--count", 20)
    assert "| popularity | head 10, tail 10 |\n" in output
    assert "sha256" not in output


@pytest.mark.parametrize("name", ["passages.jsonl", "passages.jsonl.gz"])
def test_the_passages_of_a_data_set_are_written_for_an_index(name: str, tmp_path: Path) -> None:
    out = tmp_path / name
    assert run("passages", "hotpotqa", HOTPOTQA, "--out", out) == (
        f"{out}: 20 passages of hotpotqa\n"
    )
    ids = {passage.id for passage in CorpusFile(out)}
    for question in open_dataset("hotpotqa", HOTPOTQA).questions:
        assert set(question.supports) <= ids


def test_an_index_of_the_passages_finds_the_supports_by_their_ids(
    home: Path, tmp_path: Path
) -> None:
    def scaar(*arguments: object) -> str:
        result = CliRunner().invoke(main_app, list(map(str, arguments)), catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    file, out = FIXTURES / "2wikimultihopqa.json", tmp_path / "passages.jsonl"
    scaar("dataset", "passages", "2wikimultihopqa", file, "--out", out)
    scaar("index", "build", "wiki", "--corpus", out)
    first = open_dataset("2wikimultihopqa", file).questions[0]
    found = scaar("search", first.question, "--index", "wiki", "--top-k", 1, "--format", "json")
    assert json.loads(found)["id"] == first.supports[0] == "The Glass Orchard"


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "passages.jsonl"
    out.write_text("mine")
    with pytest.raises(InvalidRequest, match="--out: .* already exists"):
        run("passages", "hotpotqa", HOTPOTQA, "--out", out)
    assert out.read_text() == "mine"


def test_an_invalid_file_leaves_no_passages(tmp_path: Path) -> None:
    out = tmp_path / "passages.jsonl"
    with pytest.raises(InvalidRequest, match=r"nq.jsonl record 1, context: is missing"):
        run("passages", "hotpotqa", FIXTURES / "nq.jsonl", "--out", out)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "squad"), "dataset: there is no data set 'squad'; known: 2wiki"),
        (("show", "nq"), "path: must name the file of nq"),
        (("show", "nq", HOTPOTQA), "hotpotqa.json record 1, answer: must be a list"),
        (("show", "nq", HOTPOTQA, "--sha256", "ab"), "sha256: .*hotpotqa.json has"),
        (("passages", "nq", HOTPOTQA, "--out", "o"), "dataset: nq has no passages"),
    ],
)
def test_an_error_is_one_line_that_names_the_field(
    arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        run(*arguments)
