import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from scaar.evaluator.results import Evaluation
from scaar.testing import evaluations
from scaar.testing.commands import run_scaar

USAGE = 2
ONE = evaluations.EVALUATION


def by(model: str, of: Evaluation = ONE) -> Evaluation:
    made = {label: replace(each, model=model) for label, each in of.provenance.items()}
    return replace(of, provenance=made)


async def kept(folder: Path, evaluation: Evaluation, *, without: int = 0) -> str:
    """Return a folder of the evaluation without some of its predictions."""
    keys = [(label, each.id) for each in evaluations.QUESTIONS for label in evaluations.LABELS]
    made = [evaluations.prediction(*key) for key in keys[: len(keys) - without]]
    await evaluations.store(folder, made, evaluation=evaluation)
    return str(folder)


async def test_two_models_are_reported_side_by_side_in_every_form(tmp_path: Path) -> None:
    folders = [await kept(tmp_path / name, by(name)) for name in ("small", "large")]
    out = tmp_path / "both"
    ran = run_scaar("eval", "join", *folders, "--out", str(out), "--resamples", "100")
    assert (ran.status, ran.out) == (0, f"{out / 'report.html'}\n")
    written = json.loads((out / "report.json").read_text())
    assert {"report.md", "report.html", "tables/joined_policies.csv"} <= set(written["files"])
    table = (out / "tables" / "joined_policies.csv").read_text().splitlines()
    assert [row.split(",")[:2] for row in table[1:]] == [
        [model, policy] for model in ("small", "large") for policy in ("no_retrieval", "flare")
    ]


async def test_evaluations_that_cannot_be_joined_are_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    one = await kept(tmp_path / "one", ONE)
    same = await kept(tmp_path / "same", ONE)
    less = await kept(tmp_path / "less", by("b"), without=2)
    torn = await kept(tmp_path / "torn", by("c"))
    with closing(sqlite3.connect(tmp_path / "torn" / "evaluations.sqlite")) as database, database:
        database.execute("UPDATE predictions SET record = '{}'")
    out = tmp_path / "out"
    for folders, says in (
        ((one,), "DIR: must be at least two folders, not 1"),
        ((one, one), "DIR: names a folder twice"),
        ((one, same), "are the same evaluation: no compared property differs"),
        ((one, less), "less is unfinished: 2 of 6 predictions are missing"),
        ((one, torn), "torn is corrupt: setting: Field required"),
        ((one, str(tmp_path / "none")), "contains no evaluation"),
    ):
        ran = run_scaar("eval", "join", *folders, "--out", str(out))
        assert ran.status != 0
        assert says in " ".join(ran.err.split())
        assert "Traceback" not in ran.err
        assert not out.exists()


async def test_an_unknown_measure_and_a_folder_in_use_are_refused(tmp_path: Path) -> None:
    folders = [await kept(tmp_path / name, by(name)) for name in ("small", "large")]
    ran = run_scaar("eval", "join", *folders, "--out", str(tmp_path / "o"), "--measure", "blue")
    assert (
        ran.status,
        "measure: there is no measure 'blue'; known: exact_match, f1" in ran.err,
    ) == (USAGE, True)
    ran = run_scaar("eval", "join", *folders, "--out", folders[0])
    assert ran.status == USAGE
    assert "contains an evaluation with its own report" in " ".join(ran.err.split())
