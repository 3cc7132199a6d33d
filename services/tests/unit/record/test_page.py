from dataclasses import replace
from pathlib import Path

import pytest

from record.__main__ import main
from record.evaluations import add_command, read_evaluations
from record.page import write_page
from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.evaluator.results import Evaluation
from scaar.testing import evaluations
from scaar.testing.evaluations import EVALUATION, LABELS, QUESTIONS


def by(model: str) -> Evaluation:
    made = {label: replace(each, model=model) for label, each in EVALUATION.provenance.items()}
    return replace(EVALUATION, provenance=made)


async def keep(root: Path, name: str, evaluation: Evaluation, *, without: int = 0) -> None:
    keys = [(label, each.id) for each in QUESTIONS for label in LABELS]
    made = [evaluations.prediction(*key) for key in keys[: len(keys) - without]]
    await evaluations.store(root / name, made, evaluation=evaluation)
    add_command(root, name, f"scaar eval run --out .results/{name}")


@pytest.fixture
async def root(tmp_path: Path) -> Path:
    """A record of a comparison of policies and of two models."""
    found = tmp_path / "results"
    found.mkdir()
    await keep(found, "policies", EVALUATION)
    for model in ("lm-one", "lm-two"):
        await keep(found, f"models-{model}", by(model))
    return found


def test_the_page_has_the_parts_that_were_run_with_their_commands(
    root: Path, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    write_page(root, docs)
    page = (docs / "results.md").read_text()
    titles = [line for line in page.splitlines() if line.startswith("## ")]
    assert titles == [
        "## Policies",
        "## By label of question",
        "## Retrieval outcomes",
        "## Models compared",
        "## Provenance",
    ]
    for each in read_evaluations(root):
        assert f"\n{each.command}\n" in page
    assert "| lm-one | no_retrieval |" in page
    for name in (each.name for each in (docs / "results").iterdir()):
        assert f"](results/{name})" in page


def test_the_same_folders_give_the_same_page_and_old_figures_go(root: Path, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write_page(root, docs)
    before = {each: each.read_bytes() for each in docs.rglob("*.*") if each.is_file()}
    (docs / "results" / "gone.svg").write_text("")
    write_page(root, docs)
    assert {each: each.read_bytes() for each in docs.rglob("*.*") if each.is_file()} == before


def test_the_hand_written_section_is_included_and_left_unchanged(
    root: Path, tmp_path: Path
) -> None:
    why = tmp_path / "docs" / "results" / "why.md"
    why.parent.mkdir(parents=True)
    why.write_text("Because of *this*.\n")
    write_page(root, tmp_path / "docs")
    page = (tmp_path / "docs" / "results.md").read_text()
    assert "\n## Why\n\nBecause of *this*.\n\n## Provenance\n" in page
    assert why.read_text() == "Because of *this*.\n"


def test_a_page_with_rows_out_of_date_says_so_before_its_first_part(
    root: Path, tmp_path: Path
) -> None:
    note = tmp_path / "docs" / "results" / "outdated.md"
    note.parent.mkdir(parents=True)
    note.write_text("Rows of *flare* are out of date.\n")
    write_page(root, tmp_path / "docs")
    page = (tmp_path / "docs" / "results.md").read_text()
    assert "\n\nRows of *flare* are out of date.\n\n## Policies\n" in page


async def test_an_evaluation_that_has_not_ended_is_named(root: Path, tmp_path: Path) -> None:
    await keep(root, "alpha", EVALUATION, without=1)
    with pytest.raises(InvalidRequest, match="alpha is unfinished: 1 of 6 predictions is missing"):
        write_page(root, tmp_path / "docs")
    assert not (tmp_path / "docs").exists()


def test_a_folder_without_a_record_and_one_that_is_damaged_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="holds no evaluations of record"):
        write_page(tmp_path, tmp_path / "docs")
    for content in ("[]", "{", '{"policies": 3}'):
        (tmp_path / "commands.json").write_text(content)
        with pytest.raises(DataCorrupt, match="is not JSON|must map folders to commands"):
            write_page(tmp_path, tmp_path / "docs")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--out", "x", "--only", "alpha,beta"], "--only: there is no 'beta'; known: "),
        (["run", "--out", "x", "--limit", "1"], "must be a whole number of 2 to 1000000, not 1"),
        (["page", "x"], "the following arguments are required: --docs"),
    ],
)
def test_invalid_options_are_refused(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["record", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_dry_run_prints_the_cost_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr("sys.argv", ["record", "run", "--out", str(out), "--dry-run"])
    assert main() == 0
    assert " answers in all: about " in capsys.readouterr().out
    assert not out.exists()
