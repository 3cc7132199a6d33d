import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.evaluator.results import Grid
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.store.folder import DATABASE, check_folder, find_evaluation, read_results
from scaar.testing.evaluations import (
    EVALUATION,
    LABELS,
    QUESTIONS,
    SETTINGS,
    failed,
    prediction,
    store,
)

ALL = [(label, question) for question in ("q1", "q2") for label in LABELS]
SPEC = EvaluationSpec(EVALUATION.dataset, SETTINGS, "lab", 60.0)


@contextmanager
def database_of(folder: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        yield database


async def test_stored_results_are_read_back_unchanged(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "results 100%"
    made = [prediction(*key) for key in ALL[:3]] + [failed(*ALL[3])]
    await store(folder, [made[3], *made[:3]])
    found = read_results(folder)
    assert found.evaluation == EVALUATION
    assert found.questions == QUESTIONS
    assert found.predictions == tuple(made)
    assert found.missing == 2
    assert [each.name for each in folder.iterdir()] == [DATABASE]


async def test_the_evaluation_of_a_folder_has_its_grid(tmp_path: Path) -> None:
    grid = Grid(6, {"flare": (0.3, 0.8)}, ("q1",), ("q2",))
    await store(tmp_path, [], evaluation=replace(EVALUATION, grid=grid))
    found = find_evaluation(tmp_path)
    assert found is not None
    assert found.evaluation is not None
    assert (found.evaluation.grid, found.spec.theta_candidates) == (grid, 6)
    assert found.spec.index == "lab"
    check_folder(tmp_path, replace(SPEC, theta_candidates=6))
    with pytest.raises(InvalidRequest, match="grid is 6 in the stored one and 3 now"):
        check_folder(tmp_path, replace(SPEC, theta_candidates=3))


async def test_a_read_only_folder_is_read(tmp_path: Path) -> None:
    await store(tmp_path, [prediction(*ALL[0])])
    tmp_path.chmod(0o500)
    try:
        assert len(read_results(tmp_path).predictions) == 1
    finally:
        tmp_path.chmod(0o700)


def test_a_folder_with_other_files_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InvalidRequest, match="thesis.tex but no evaluations.sqlite"):
        check_folder(tmp_path, SPEC)
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_of_an_earlier_version_names_the_command_that_reads_it(tmp_path: Path) -> None:
    (tmp_path / "evaluation.json").write_text("{}")
    with pytest.raises(InvalidRequest, match="earlier version: read them with scaar eval import"):
        check_folder(tmp_path, SPEC)
    with pytest.raises(NotFound, match="earlier version: read them with scaar eval import"):
        read_results(tmp_path)


def test_a_file_is_refused_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InvalidRequest, match="out is not a folder"):
        check_folder(tmp_path / "out", SPEC)


async def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    await store(tmp_path, [prediction(*ALL[0])])
    with database_of(tmp_path) as database:
        database.execute('UPDATE predictions SET record = \'{"setting":"flare"}\'')
    with pytest.raises(DataCorrupt, match="is corrupt: question_id: Field required"):
        read_results(tmp_path)
    (tmp_path / DATABASE).write_bytes(b"no database" * 1000)
    with pytest.raises(DataCorrupt, match="cannot be read: file is not a database"):
        read_results(tmp_path)


async def test_a_folder_without_an_evaluation_or_with_several_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="contains no evaluation"):
        read_results(tmp_path)
    assert find_evaluation(tmp_path) is None
    await store(tmp_path, [])
    with database_of(tmp_path) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(evaluations)")]
        copied = ", ".join(
            {"number": "number + 1", "id": "'b'", "request_id": "'b'"}.get(each, each)
            for each in columns
        )
        database.execute(f"INSERT INTO evaluations SELECT {copied} FROM evaluations")
    several = f"{tmp_path} contains 2 evaluations; name"
    with pytest.raises(InvalidRequest, match=f"DIR: {several} a folder with one, or read one"):
        read_results(tmp_path)
    with pytest.raises(InvalidRequest, match=f"--out: {several} an empty or new folder"):
        check_folder(tmp_path, SPEC)
