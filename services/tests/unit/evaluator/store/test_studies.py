"""Studies in a folder: resumed, refused, killed, on a full disk, and imported."""

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from scaar.core.errors import BackendUnavailable, DataCorrupt, InvalidRequest, NotFound, ScaarError
from scaar.evaluator.records import Question
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.store.database import studies
from scaar.evaluator.store.database.studies import open_study
from scaar.evaluator.store.folder import DATABASE, check_folder, held, read_results
from scaar.evaluator.store.record_json import RecordJson
from scaar.evaluator.store.studies import Part, Study, find_study, lines_of, read_study
from scaar.testing.evaluations import EVALUATION, prediction, store
from scaar.testing.evaluations import SETTINGS as POLICIES


@dataclass(frozen=True, slots=True)
class Settings:
    created: str
    model: str


@dataclass(frozen=True, slots=True)
class Found:
    question_id: str
    text: str


FOUND = Part("found", RecordJson(Found))
STUDY = Study("lengths", "comparison of lengths", RecordJson(Settings), (FOUND,))
SETTINGS = Settings("today", "lm")
QUESTIONS = tuple(Question(f"q{at}", f"Who is {at}?", ("Ada",), f"{at}") for at in range(50))
MADE = [Found(each.id, f"{each.id} \u2028 Łukasiewicz") for each in QUESTIONS]


async def add(folder: Path, made: list[Found], settings: Settings = SETTINGS) -> None:
    async with open_study(folder, STUDY, settings, QUESTIONS) as opened:
        await opened.part(FOUND).add(made)


def found(folder: Path) -> list[Found]:
    return list(read_study(folder, STUDY).records(FOUND).values())


async def test_a_study_is_read_in_the_order_of_its_questions(tmp_path: Path) -> None:
    assert find_study(tmp_path / "new", STUDY) is None
    await add(tmp_path / "new", MADE[::-1])
    stored = read_study(tmp_path / "new", STUDY)
    assert (stored.settings, stored.questions) == (SETTINGS, QUESTIONS)
    assert found(tmp_path / "new") == MADE
    assert [each.name for each in (tmp_path / "new").iterdir()] == [DATABASE]


async def test_a_question_has_one_record_however_often_it_is_stored(tmp_path: Path) -> None:
    await add(tmp_path, MADE)
    await add(tmp_path, [Found("q1", "again")], replace(SETTINGS, created="tomorrow"))
    assert found(tmp_path) == [MADE[0], Found("q1", "again"), *MADE[2:]]
    assert read_study(tmp_path, STUDY).settings == SETTINGS


async def test_another_study_or_another_run_is_refused(tmp_path: Path) -> None:
    await add(tmp_path, MADE[:3])
    with pytest.raises(
        InvalidRequest, match="another comparison of lengths: model is 'lm' in the stored one"
    ):
        await add(tmp_path, MADE, replace(SETTINGS, model="other"))
    with held(tmp_path), pytest.raises(InvalidRequest, match="is being written by another run"):
        await add(tmp_path, MADE)
    assert found(tmp_path) == MADE[:3]


async def test_a_folder_has_the_results_of_one_command(tmp_path: Path) -> None:
    await add(tmp_path / "study", MADE[:3])
    text = "contains results of scaar eval lengths; name another folder"
    spec = EvaluationSpec(EVALUATION.dataset, POLICIES, "lab", 60.0)
    with pytest.raises(InvalidRequest, match=text):
        check_folder(tmp_path / "study", spec)
    with pytest.raises(NotFound, match="contains no evaluation"):
        read_results(tmp_path / "study")
    await store(tmp_path / "run", [prediction("no_retrieval", "q1")])
    with pytest.raises(InvalidRequest, match="contains results of scaar eval run; name another"):
        await add(tmp_path / "run", MADE)
    with pytest.raises(NotFound, match="contains no comparison of lengths"):
        read_study(tmp_path / "run", STUDY)


async def test_an_error_of_the_study_is_not_taken_for_one_of_the_database(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="^the scorer is gone"):
        async with open_study(tmp_path, STUDY, SETTINGS, QUESTIONS):
            raise BackendUnavailable("the scorer is gone")


async def test_a_damaged_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"nothing " * 1_000)
    with pytest.raises(DataCorrupt, match="cannot be read: file is not a database"):
        read_study(tmp_path, STUDY)


async def test_a_full_disk_names_the_file_and_the_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add(tmp_path, MADE[:3])

    async def full(*_: object) -> None:
        reason = BackendUnavailable("the database of evaluations is not available")
        raise reason from OSError("database or disk is full")

    monkeypatch.setattr(studies, "_add", full)
    needed = len(lines_of(FOUND, MADE[3:5]).decode())
    text = f"{tmp_path / DATABASE} cannot be written: its disk is full \\({needed} B needed, "
    with pytest.raises(ScaarError, match=text):
        await add(tmp_path, MADE[3:5])
    assert found(tmp_path) == MADE[:3]


WRITE = """
import asyncio, sys
from pathlib import Path
from scaar.evaluator.store.database.studies import open_study
sys.path.insert(0, sys.argv[2])
from test_studies import MADE, QUESTIONS, SETTINGS, STUDY, FOUND

async def write(folder):
    async with open_study(folder, STUDY, SETTINGS, QUESTIONS) as opened:
        for each in MADE:
            await opened.part(FOUND).add([each])
            print(each.question_id, flush=True)

asyncio.run(write(Path(sys.argv[1])))
"""


def test_records_that_were_stored_survive_a_kill(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE, str(tmp_path / "out"), str(Path(__file__).parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        stored = [process.stdout.readline().strip() for _ in range(5)]
        process.send_signal(signal.SIGKILL)
    assert stored == [each.question_id for each in MADE[:5]]
    kept = found(tmp_path / "out")
    assert kept == MADE[: len(kept)]
    assert len(kept) >= 5
    asyncio.run(add(tmp_path / "out", MADE))
    assert found(tmp_path / "out") == MADE
