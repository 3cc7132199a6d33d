"""An evaluation run in a folder, from wherever it stopped to its end."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from scaar.core.ports import Answerer
from scaar.core.types import AnswerRequest
from scaar.evaluator.execution.indexes import check_indexes
from scaar.evaluator.execution.opening import provenances
from scaar.evaluator.execution.scorers import Controls, check_scorers
from scaar.evaluator.execution.shard import run_shard
from scaar.evaluator.execution.turns import Turns
from scaar.evaluator.planning.work import plan_work, work_left
from scaar.evaluator.records import Prediction, Question, Setting
from scaar.evaluator.results import DatasetOrigin, Evaluation, Grid, LeftOut, Results
from scaar.evaluator.store.folder import open_results, put_in_order, read_results
from scaar.evaluator.store.record_json import RecordJson

_QUESTION = RecordJson(Question)

Told = Callable[[Prediction], None]
Watch = Callable[[int, int], AbstractContextManager[Told]]
"""From how many predictions are wanted and how many of them there are to what is told of each."""


@contextmanager
def unwatched(wanted: int, before: int) -> Iterator[Told]:
    """Tells nobody."""
    yield lambda _: None


@dataclass(frozen=True, slots=True)
class Run:
    """How an evaluation is run; none of it is part of what is evaluated but the template.

    ``template`` is the request of every question, but for the question and the policy; ``now`` is
    the time, RFC 3339 in UTC. ``controls`` answer where a setting is by a control of the scorer.
    """

    answerer: Answerer
    template: AnswerRequest
    scaar: str
    now: str
    concurrency: int = 1
    watch: Watch = unwatched
    retry_failed: bool = False
    controls: Controls = field(default_factory=dict)
    generations_kept: bool = False


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
    """Asks what is not answered yet, and gives back all there is.

    ``left_out`` is kept with the evaluation: what it was to ask beside its settings.

    Raises:
        InvalidRequest: the folder is of another evaluation, or another run's; or a setting is
            answered by another scorer than its own.
        ScaarError: a setting cannot be answered, or what came cannot be kept.
    """
    evaluation = await begun(run, settings, questions, origin=origin, grid=grid, left_out=left_out)
    with open_results(folder, evaluation, questions) as store:
        known = dict(await store.known())
        plan = tuple(plan_work(settings, questions))
        left = work_left(plan, known, retry_failed=run.retry_failed)
        with run.watch(len(plan), len(plan) - len(left)) as told:
            await run_shard(
                run.answerer,
                left,
                store,
                template=run.template,
                expected=evaluation.provenance,
                turns=Turns(run.concurrency),
                controls=run.controls,
                told=told,
            )
    put_in_order(folder)
    return read_results(folder)


async def begun(
    run: Run,
    settings: Sequence[Setting],
    questions: Sequence[Question],
    *,
    origin: DatasetOrigin,
    grid: Grid | None = None,
    left_out: Sequence[LeftOut] = (),
) -> Evaluation:
    """The evaluation, with what will answer under each setting; no question has been answered.

    Raises:
        InvalidRequest: a setting is answered by another scorer than its own, or indexes that are
            held against each other hold other passages.
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
        generations_kept=run.generations_kept,
    )


def checksum_of(questions: Sequence[Question]) -> str:
    """The SHA-256 of the questions with all that is known of them."""
    digest = hashlib.sha256()
    for question in questions:
        digest.update(_QUESTION.line(question))
    return digest.hexdigest()
