"""``scaar eval export`` from a folder of results."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from scaar.evaluator.records import Prediction, Question
from scaar.testing.commands import Ran, run_scaar
from scaar.testing.evaluations import LABELS, QUESTIONS, failed, prediction, store

SUPPORTED = (
    replace(QUESTIONS[0], id="q 1", supports=("p1", "Ada Lovelace", "p1")),
    replace(QUESTIONS[1], labels=(("kind", "two_hop"),)),
)


async def results(folder: Path, questions: tuple[Question, ...] = SUPPORTED) -> str:
    """A folder with all predictions; the last one failed."""
    ids = [each.id for each in questions]
    made: list[Prediction] = [prediction(label, id_) for id_ in ids for label in LABELS]
    made[-1] = failed(LABELS[-1], ids[-1])
    await store(folder, made, questions=questions)
    return str(folder)


def rows_in(path: Path) -> list[dict[str, Any]]:
    # A question has a line separator, which str.splitlines splits too.
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def exported(folder: str, export_format: str, out: Path) -> Ran:
    return run_scaar("eval", "export", folder, "--format", export_format, "--out", str(out))


async def test_jsonl_has_every_prediction_with_its_scores(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    ran = exported(await results(tmp_path / "results"), "jsonl", out)
    assert (ran.status, ran.out, ran.err) == (0, f"{out}\n", "")
    rows = rows_in(out)
    assert [(row["setting"], row["question_id"]) for row in rows] == [
        (label, each.id) for each in SUPPORTED for label in LABELS
    ]
    first, last = rows[0], rows[-1]
    assert (first["f1"], first["retrievals"], first["kind"]) == (1.0, 1, "one_hop")
    assert (first["answer"], first["accepted_answers"]) == ("a countess", ["a countess"])
    assert (last["f1"], last["failure"]) == (0.0, "BACKEND_UNAVAILABLE")
    assert rows[3]["question"] == QUESTIONS[1].question


async def test_an_export_of_a_partial_run_reports_it(tmp_path: Path) -> None:
    await store(tmp_path / "results", [prediction(LABELS[0], "q1")])
    out = tmp_path / "rows.jsonl"
    ran = exported(str(tmp_path / "results"), "jsonl", out)
    assert (ran.status, ran.out) == (0, f"{out}\n")
    assert ran.err == "5 predictions are missing: the evaluation is not complete\n"


async def test_csv_and_parquet_have_the_rows_of_jsonl(tmp_path: Path) -> None:
    folder = await results(tmp_path / "results")
    files = {name: tmp_path / f"rows.{name}" for name in ("jsonl", "csv", "parquet")}
    for name, path in files.items():
        assert exported(folder, name, path).status == 0
    rows = rows_in(files["jsonl"])
    assert pyarrow.parquet.read_table(files["parquet"]).to_pylist() == rows
    with files["csv"].open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["question_id"] for row in read] == [row["question_id"] for row in rows]
    assert json.loads(read[-1]["accepted_answers"]) == rows[-1]["accepted_answers"]
    assert [float(row["f1"]) for row in read] == [row["f1"] for row in rows]


async def test_a_label_with_the_name_of_a_column_is_exported_beside_it(tmp_path: Path) -> None:
    names = ("answer", "f1", "label_answer", "retrievals", "setting")
    labels = tuple((name, f"label {name}") for name in names)
    questions = (replace(QUESTIONS[0], labels=labels), replace(QUESTIONS[1], labels=()))
    folder = await results(tmp_path / "results", questions)
    files = {name: tmp_path / f"rows.{name}" for name in ("jsonl", "csv", "parquet")}
    for name, path in files.items():
        assert exported(folder, name, path).status == 0
    first, *_, last = rows = rows_in(files["jsonl"])
    assert (first["answer"], first["f1"], first["retrievals"]) == ("a countess", 1.0, 1)
    assert first["setting"] == LABELS[0]
    columns = ("label_label_answer", "label_f1", "label_answer", "label_retrievals")
    columns = (*columns, "label_setting")
    assert [first[each] for each in columns] == [f"label {name}" for name in names]
    assert [last[each] for each in columns] == [None] * len(names)
    assert list(first) == list(last)
    assert pyarrow.parquet.read_table(files["parquet"]).to_pylist() == rows
    with files["csv"].open(newline="") as file:
        read = list(csv.DictReader(file))
    assert (read[0]["answer"], read[0]["label_retrievals"]) == ("a countess", "label retrievals")


async def test_latex_is_a_table_of_the_settings(tmp_path: Path) -> None:
    out = tmp_path / "table.tex"
    assert exported(await results(tmp_path / "results"), "latex", out).status == 0
    comment, begin, *lines = out.read_text().splitlines()
    assert comment == "% 2 questions; means per question"
    assert begin.startswith(r"\begin{tabular}{lrr")
    body = [line for line in lines if "&" in line]
    assert body[0].startswith(r"Setting & F1 & 95\,\% interval & EM &")
    assert body[0].endswith(r"Retrievals & Model calls & Tokens \\")
    assert [line.split(" & ")[0] for line in body[1:]] == [
        each.replace("_", r"\_") for each in LABELS
    ]
    assert len({line.count("&") for line in body}) == 1
    assert lines[-1] == r"\end{tabular}"


async def test_trec_has_a_run_for_each_setting_and_the_relevant_passages(tmp_path: Path) -> None:
    out = tmp_path / "trec"
    assert exported(await results(tmp_path / "results"), "trec", out).status == 0
    assert (out / "qrels").read_text() == "q%201 0 p1 1\nq%201 0 Ada%20Lovelace 1\n"
    assert sorted(each.name for each in out.iterdir()) == sorted(
        ["qrels", *(f"{label.replace(':', '_')}.run" for label in LABELS)]
    )
    run = (out / "flare_theta=0.3.run").read_text().splitlines()
    assert run == [
        f"{question} Q0 {passage} {rank} {1 / rank:g} flare:theta=0.3"
        for question in ("q%201", "q2")
        for rank, passage in enumerate(("p1", "p2"), 1)
    ]


@pytest.mark.parametrize(
    ("export_format", "name", "message"),
    [
        ("csv", "results", "--out: {} is a folder"),
        ("trec", "taken", "--out: {} is not a folder"),
        ("csv", "none/rows.csv", "none/rows.csv"),
    ],
)
async def test_an_output_that_cannot_be_written_is_reported(
    export_format: str, name: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "taken").touch()
    ran = exported(await results(tmp_path / "results"), export_format, tmp_path / name)
    assert ran.status != 0
    assert message.format(tmp_path / name) in ran.err
    assert "Traceback" not in ran.err


async def test_trec_without_supports_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "trec"
    ran = exported(await results(tmp_path / "results", QUESTIONS), "trec", out)
    assert ran.status == 2
    assert "--format: needs questions that name the passages with their answers" in ran.err
    assert not out.exists()
