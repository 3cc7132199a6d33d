"""An evaluation that runs in a folder, and resumes there after an interruption."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from scaar.core.ports import Answerer
from scaar.core.types import AnswerRequest
from scaar.evaluator.execution.provenance import check_indexes, provenances
from scaar.evaluator.execution.scorers import Controls, check_scorers
from scaar.evaluator.execution.shard import QuestionLimiter, run_shard
from scaar.evaluator.planning.work import plan_work, remaining_work
from scaar.evaluator.records import Prediction, Question, Setting
from scaar.evaluator.results import DatasetOrigin, Evaluation, Grid, LeftOut, Results
from scaar.evaluator.store.folder import open_results, put_in_order, read_results

OnStored = Callable[[Prediction], None]
Watch = Callable[[int, int], AbstractContextManager[OnStored]]
"""Takes the total number of predictions and the number of stored ones; returns a context whose
value is called for each prediction once it is stored."""


@contextmanager
def no_watch(total: int, stored: int) -> Iterator[OnStored]:
    """A :data:`Watch` that reports nothing."""
    yield lambda _: None


@dataclass(frozen=True, slots=True)
class Run:
    """How an evaluation runs; only the template is part of the evaluation.

    ``template`` is the request of every question, except for the question and the policy. ``now``
    is the time, RFC 3339 in UTC. ``controls`` answer settings with a scorer control.
    """

    answerer: Answerer
    template: AnswerRequest
    scaar: str
    now: str
    concurrency: int = 1
    watch: Watch = no_watch
    retry_failed: bool = False
    controls: Controls = field(default_factory=dict)
    generations_cached: bool = False


async def run_in_folder(
    run: Run,
    folder: Path,
    settings: Sequence[Setting],
    questions: Sequence[Question],
    *,
    origin: DatasetOrigin,
    grid: Grid | None = None,
    left_out: Sequence[LeftOut] = (),
) -> Results:
    """Make the predictions that the folder lacks, and return all predictions.

    ``left_out`` is stored with the evaluation: the settings that the model cannot serve.

    Raises:
        InvalidRequest: the folder belongs to another evaluation, another run is using it, or a
            setting is answered with another scorer than its own.
        ScaarError: a setting cannot be answered, or a prediction cannot be stored.
    """
    evaluation = await prepare_evaluation(
        run, settings, questions, origin=origin, grid=grid, left_out=left_out
    )
    with open_results(folder, evaluation, questions) as store:
        known = dict(await store.known())
        plan = tuple(plan_work(settings, questions))
        remaining = remaining_work(plan, known, retry_failed=run.retry_failed)
        with run.watch(len(plan), len(plan) - len(remaining)) as on_stored:
            await run_shard(
                run.answerer,
                remaining,
                store,
                template=run.template,
                expected=evaluation.provenance,
                limiter=QuestionLimiter(run.concurrency),
                controls=run.controls,
                on_stored=on_stored,
            )
    put_in_order(folder)
    return read_results(folder)


async def prepare_evaluation(
    run: Run,
    settings: Sequence[Setting],
    questions: Sequence[Question],
    *,
    origin: DatasetOrigin,
    grid: Grid | None = None,
    left_out: Sequence[LeftOut] = (),
) -> Evaluation:
    """Return the evaluation with the provenance of every setting; no question is answered.

    Raises:
        InvalidRequest: a setting is answered with another scorer than its own, or the indexes of
            the settings contain different passages.
        ScaarError: a setting cannot be answered.
    """
    template = replace(run.template, question=questions[0].question)
    made = await provenances(run.answerer, settings, template, controls=run.controls)
    check_scorers(settings, made)
    check_indexes(settings, made)
    return Evaluation(
        scaar=run.scaar,
        created=run.now,
        dataset=origin,
        settings=tuple(settings),
        provenance=made,
        budget=template.budget,
        grid=grid,
        left_out=tuple(left_out),
        generations_cached=run.generations_cached,
    )
