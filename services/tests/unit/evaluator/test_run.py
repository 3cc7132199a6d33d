"""Evaluations in a folder: resumed, refused, and safe against full disks."""

import asyncio
import errno
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest, NotFound, ScaarError
from scaar.core.types import AnswerEvent, AnswerRequest
from scaar.evaluator.datasets.sample import checksum_of
from scaar.evaluator.execution.scorers import Answerers
from scaar.evaluator.planning.settings import Values, plan_settings
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin, Results
from scaar.evaluator.run import Run, run_in_folder
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.store.files import write_whole
from scaar.evaluator.store.folder import DATABASE, held, read_results
from scaar.testing.steady_answerer import SteadyAnswerer, varied

QUESTIONS = tuple(
    Question(f"q{at}", f"Who is number {at}?", ("Ada",), f"e{at}") for at in range(200)
)


def spec_of(questions: Sequence[Question]) -> EvaluationSpec:
    checksum = checksum_of(questions)
    return EvaluationSpec(
        DatasetOrigin("jsonl", "mine.jsonl", 3, len(questions), checksum),
        plan_settings(("no_retrieval", "flare"), {}),
        *("lab", 60.0),
    )


FEW = QUESTIONS[:8]
SPEC, LARGE = spec_of(FEW), spec_of(QUESTIONS)


class Stop(BaseException):
    """Ends a run immediately, as a signal would."""


class StoppedAnswerer(SteadyAnswerer):
    """Ends the run once a number of answers has begun."""

    def __init__(self, after: int) -> None:
        super().__init__(script=varied)
        self._after = after

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        if sum(self.answers.values()) >= self._after:
            raise Stop
        async for event in super().stream_answer(request):
            yield event


class Watched:
    """Progress that remembers the passes and what was said."""

    def __init__(self) -> None:
        self.name = ""
        self.passes: list[tuple[str, int, int]] = []
        self.said: list[str] = []

    @contextmanager
    def watch(self, total: int, before: int) -> Iterator[Callable[[object], None]]:
        self.passes.append((self.name, total, before))
        yield lambda _: None

    def say(self, text: str) -> None:
        self.said.append(text)


async def ran(
    folder: Path,
    spec: EvaluationSpec = SPEC,
    *,
    answerer: SteadyAnswerer | None = None,
    progress: Watched | None = None,
    retry_failed: bool = False,
) -> Results:
    answerers = Answerers(answerer or SteadyAnswerer(script=varied))
    run = Run(answerers, 3, progress or Watched(), retry_failed)
    return await run_in_folder(run, folder, spec, QUESTIONS[: spec.dataset.questions])


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


async def test_a_folder_has_every_prediction_in_the_order_of_the_plan(tmp_path: Path) -> None:
    watched = Watched()
    results = await ran(tmp_path / "new" / "results", progress=watched)
    labels = [each.label for each in SPEC.settings]
    assert [(each.question_id, each.setting) for each in results.predictions] == [
        (question.id, label) for question in FEW for label in labels
    ]
    assert watched.passes == [("evaluating", 16, 0)]
    assert [each.name for each in (tmp_path / "new" / "results").iterdir()] == [DATABASE]


@pytest.mark.parametrize(
    ("model", "freedom", "said"),
    [
        (
            *("lab-lm", 1.0),
            [
                "freedom: of the lab's models, lab-lm-free and lab-lm-free-b write free words, and "
                "lab-lm answers: set SCAAR_GENERATOR_MODEL"
            ],
        ),
        ("lab-lm-free-b", 1.0, []),
        ("lab-lm", None, []),
    ],
)
async def test_a_model_that_writes_no_free_words_is_named_with_those_that_do(
    model: str, freedom: float | None, said: list[str], tmp_path: Path
) -> None:
    watched = Watched()
    spec = replace(SPEC, dataset=replace(SPEC.dataset, freedom=freedom))
    answerer = SteadyAnswerer(script=varied)
    answerer.model = model
    await ran(tmp_path, spec, answerer=answerer, progress=watched)
    assert watched.said == said


async def test_a_stopped_run_resumes_and_repeats_no_prediction(tmp_path: Path) -> None:
    with pytest.raises(Stop):
        await ran(tmp_path, answerer=StoppedAnswerer(6))
    before = read_results(tmp_path).predictions
    assert 3 <= len(before) < 16
    watched, answerer = Watched(), SteadyAnswerer(script=varied)
    results = await ran(tmp_path, progress=watched, answerer=answerer)
    assert watched.passes == [("evaluating", 16, len(before))]
    assert sum(answerer.answers.values()) == 16 - len(before)
    assert set(map(repr, before)) <= set(map(repr, results.predictions))
    again = SteadyAnswerer(script=varied)
    assert await ran(tmp_path, answerer=again) == results
    assert not again.answers


async def test_a_run_that_is_stopped_in_its_first_pass_resumes_there(tmp_path: Path) -> None:
    grid = replace(SPEC, theta_candidates=2)
    with pytest.raises(Stop):
        await ran(tmp_path, grid, answerer=StoppedAnswerer(3))
    with pytest.raises(InvalidRequest, match="timeout_s is 60.0 in the stored one and 5.0 now"):
        await ran(tmp_path, replace(grid, timeout_s=5.0))
    watched = Watched()
    results = await ran(tmp_path, grid, progress=watched)
    assert [name for name, _, _ in watched.passes] == ["first pass", "evaluating"]
    assert watched.passes[0][2] > 0
    assert results.evaluation.grid is not None
    assert len(results.evaluation.settings) == 3
    assert await ran(tmp_path, grid) == results


async def test_failed_predictions_are_made_again_on_request(tmp_path: Path) -> None:
    answerer = SteadyAnswerer((("number 2", 0),), script=varied)
    failed = [each for each in (await ran(tmp_path, answerer=answerer)).predictions if each.failure]
    assert len(failed) == 2
    answerer.failing = ()
    assert [each for each in (await ran(tmp_path)).predictions if each.failure] == failed
    repaired = await ran(tmp_path, answerer=answerer, retry_failed=True)
    assert not any(each.failure for each in repaired.predictions)
    assert len(repaired.predictions) == 16


async def test_deleted_predictions_are_made_again(tmp_path: Path) -> None:
    results = await ran(tmp_path)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection, connection:
        connection.execute("DELETE FROM predictions WHERE question > 2")
    assert read_results(tmp_path).missing == 10
    answerer = SteadyAnswerer(script=varied)
    assert await ran(tmp_path, answerer=answerer) == results
    assert sum(answerer.answers.values()) == 10


async def test_a_run_that_was_killed_while_it_created_the_database_starts_anew(
    tmp_path: Path,
) -> None:
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(NotFound, match="contains no evaluation"):
        read_results(tmp_path)
    assert (await ran(tmp_path)).missing == 0


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (
            replace(SPEC, settings=SPEC.settings[:1]),
            "setting flare is only in the stored one",
        ),
        (replace(SPEC, settings=SPEC.settings[::-1]), "the settings are in another order"),
        (
            replace(SPEC, dataset=replace(SPEC.dataset, seed=7)),
            "dataset.seed is 3 in the stored one and 7 now",
        ),
        (
            replace(SPEC, timeout_s=1.0),
            "budget.timeout_s is 60.0 in the stored one and 1.0 now",
        ),
        (replace(SPEC, theta_candidates=6), "grid is not set in the stored one and 6"),
        (
            replace(SPEC, cache_generations=True),
            "generations_cached is False in the stored one and True now",
        ),
    ],
)
async def test_another_evaluation_is_refused_with_the_difference_named(
    tmp_path: Path, other: EvaluationSpec, expected: str
) -> None:
    await ran(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(InvalidRequest, match=expected):
        await ran(tmp_path, other)
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("policies", "values", "expected"),
    [
        (("no_retrieval", "perplexity"), {}, "setting perplexity is only requested"),
        (("flare",), {"trigger": ("perplexity",)}, "setting flare:trigger=perplexity is only req"),
    ],
)
async def test_another_trigger_with_the_same_grid_is_refused_with_the_difference_named(
    tmp_path: Path, policies: tuple[str, ...], values: Values, expected: str
) -> None:
    grid = replace(SPEC, theta_candidates=2)
    await ran(tmp_path, grid)
    before = contents(tmp_path)
    with pytest.raises(InvalidRequest, match=f"contains another evaluation: .*{expected}"):
        await ran(tmp_path, replace(grid, settings=plan_settings(policies, values)))
    assert contents(tmp_path) == before


async def test_another_model_is_refused_with_the_difference_named(tmp_path: Path) -> None:
    await ran(tmp_path)
    answerer = SteadyAnswerer(script=varied)
    answerer.revision = "2"
    expected = "model_revision is '1' in the stored one and '2' now"
    with pytest.raises(InvalidRequest, match=expected):
        await ran(tmp_path, answerer=answerer)


async def test_a_moved_file_of_questions_does_not_distinguish_evaluations(tmp_path: Path) -> None:
    results = await ran(tmp_path)
    moved = replace(SPEC, dataset=replace(SPEC.dataset, path="moved.jsonl"))
    assert await ran(tmp_path, moved) == results


async def test_a_setting_that_cannot_be_answered_is_named_before_anything_is_written(
    tmp_path: Path,
) -> None:
    spec = replace(SPEC, settings=plan_settings(("no_retrieval", "dragin"), {}))
    with pytest.raises(ScaarError, match="dragin"):
        await ran(tmp_path / "out", spec)
    assert not (tmp_path / "out").exists()
    watched = Watched()
    results = await ran(tmp_path / "out", replace(spec, skip_unserved=True), progress=watched)
    assert [each.setting.label for each in results.evaluation.left_out] == ["dragin"]
    assert watched.said[0].startswith("left out, because the model cannot serve them: dragin")


async def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with held(tmp_path), pytest.raises(InvalidRequest, match="is being written by another run"):
        await ran(tmp_path)
    await ran(tmp_path)


FULL_DISK = """
import asyncio, resource, sys
from pathlib import Path
from scaar.core.errors import ScaarError
sys.path.insert(0, sys.argv[3])
import test_run

room = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
try:
    asyncio.run(test_run.ran(Path(sys.argv[1]), test_run.LARGE))
except ScaarError as error:
    print(error.message)
"""


@pytest.mark.slow
def test_a_full_disk_is_reported_and_stored_predictions_are_intact(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    with pytest.raises(Stop):
        asyncio.run(ran(folder, LARGE, answerer=StoppedAnswerer(6)))
    before = read_results(folder).predictions
    room = (folder / DATABASE).stat().st_size + 50_000
    full = subprocess.run(
        # -B: the limit would leave half-written byte code behind.
        [sys.executable, "-B", "-c", FULL_DISK, str(folder), str(room), str(Path(__file__).parent)],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert full.stderr == ""
    assert f"{folder / DATABASE} cannot be written: " in full.stdout
    assert read_results(folder).predictions[: len(before)] == before
    assert asyncio.run(ran(folder, LARGE)).missing == 0


def test_a_full_disk_names_the_file_and_the_space_that_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "report.json"
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ScaarError) as caught:
        write_whole(path, b"x" * 5_000)
    text = f"{path} cannot be written: its disk is full (5.0 kB needed, "
    assert str(caught.value).startswith(text)
    assert not path.exists()
