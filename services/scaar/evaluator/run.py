"""An evaluation that this process runs in a folder, and resumes there after an interruption."""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scaar.core.errors import BackendUnavailable, ScaarError
from scaar.core.evaluations import EvaluationState
from scaar.core.tenancy import DEFAULT_TENANT
from scaar.database.database import Database
from scaar.database.migration import open_checked_database
from scaar.evaluator.datasets.lab import advice_on_freedom
from scaar.evaluator.execution.progress import NoProgress, RunProgress
from scaar.evaluator.execution.scorers import Answerers
from scaar.evaluator.records import Prediction, Question
from scaar.evaluator.results import Results, describe_left_out
from scaar.evaluator.service.descriptions import rfc3339
from scaar.evaluator.service.preparation import prepare
from scaar.evaluator.service.shard_execution import ShardExecution
from scaar.evaluator.service.shard_sequence import ShardSequence
from scaar.evaluator.service.start import EvaluationStarter
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.store.database import transitions
from scaar.evaluator.store.database.evaluations import (
    NewEvaluation,
    StoredEvaluation,
    add_evaluation,
    first_pass_of,
    get_evaluation,
)
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.evaluator.store.database.shards import free_shards, release_all
from scaar.evaluator.store.folder import (
    FolderEvaluation,
    check_folder,
    check_same,
    find_evaluation,
    held,
    read_results,
    unwritable_database,
)
from scaar.evaluator.studies.grid.candidates import count_settings, with_candidates

SHARD_PREDICTIONS = 10_000
"""Approximate number of predictions whose keys are held in memory at a time."""
_LEASE_S = 30.0


@dataclass(frozen=True, slots=True)
class Run:
    """How evaluations run; ``now`` returns the time in seconds since 1970."""

    answerers: Answerers
    concurrency: int = 1
    progress: RunProgress = field(default_factory=NoProgress)
    retry_failed: bool = False
    now: Callable[[], float] = time.time


async def run_in_folder(
    run: Run, folder: Path, spec: EvaluationSpec, questions: Sequence[Question]
) -> Results:
    """Make the predictions that the folder lacks, and return all predictions.

    Every question is tried once. The folder is created after a first check of the answerers.

    Raises:
        InvalidRequest: the folder belongs to another evaluation, another run is using it, or a
            setting is answered with another scorer than its own.
        ScaarError: a setting cannot be answered, or a prediction cannot be stored.
    """
    check_folder(folder, spec)
    stored = find_evaluation(folder)
    await _check_answerers(run, folder, spec, questions[0], stored)
    with held(folder) as url:
        try:
            async with open_checked_database(url, SCHEMA, exclusive=True) as database:
                await release_all(database)
                execution = _FolderExecution(run, database)
                ended = await execution.run_to_end(await execution.open(spec, questions, stored))
        except BackendUnavailable as error:
            raise unwritable_database(folder, error) from error
    if ended.state is not EvaluationState.SUCCEEDED:
        why = ended.error.message if ended.error else f"the evaluation was {ended.state.value}"
        raise ScaarError(why)
    return read_results(folder)


async def _check_answerers(
    run: Run,
    folder: Path,
    spec: EvaluationSpec,
    first: Question,
    stored: FolderEvaluation | None,
) -> None:
    """Check that every setting can be answered, as in the stored evaluation if there is one."""
    prepared = await prepare(spec, run.answerers, first)
    for text in describe_left_out(prepared.left_out):
        run.progress.say(f"left out, because the model cannot serve them: {text}")
    settings = prepared.settings
    grid = stored.evaluation.grid if stored and stored.evaluation else None
    if grid is not None:
        settings = with_candidates(settings, grid.candidates)
    requested = await prepared.evaluation(settings, grid, created=rfc3339(run.now()))
    if spec.dataset.freedom is not None:
        models = {each.model for each in requested.provenance.values()}
        if advice := advice_on_freedom(models):
            run.progress.say(advice)
    if stored is not None:
        check_same(folder, stored, spec, requested)


class _FolderExecution:
    """Runs the evaluation of a folder in this process, which alone writes to the database."""

    def __init__(self, run: Run, database: Database) -> None:
        self._run = run
        self._database = database
        self._on_stored: Callable[[Prediction], None] = lambda _: None
        self._starter = EvaluationStarter(
            *(database, run.answerers.answerer, run.now, SHARD_PREDICTIONS),
            controls=run.answerers.controls,
            cached=run.answerers,
            waits=False,
        )
        execution = ShardExecution(
            database=database,
            answerer=run.answerers.answerer,
            holder="",
            now=run.now,
            attempts=1,
            pause_s=0.0,
            lease_s=_LEASE_S,
            controls=run.answerers.controls,
            cached=run.answerers,
            on_stored=lambda prediction: self._on_stored(prediction),
        )
        self._sequence = ShardSequence(execution, run.concurrency, continue_s=float("inf"))

    async def open(
        self,
        spec: EvaluationSpec,
        questions: Sequence[Question],
        stored: FolderEvaluation | None,
    ) -> StoredEvaluation:
        """Return the stored evaluation with its missing predictions to make, or a new one."""
        if stored is None:
            name = uuid.uuid4().hex
            count = count_settings(spec.settings, spec.theta_candidates or 1)
            new = NewEvaluation(name, DEFAULT_TENANT, name, spec, questions, count)
            now = self._run.now()
            return await add_evaluation(self._database, new, now=now, max_unfinished=1)
        found = await get_evaluation(self._database, stored.id)
        retry_failed = self._run.retry_failed
        if retry_failed and not found.state.ended:
            # Only an ended evaluation can be resumed.
            await transitions.cancel(self._database, found.number, now=self._run.now())
        await transitions.resume(self._database, found, retry_failed=retry_failed, max_unfinished=1)
        return await get_evaluation(self._database, stored.id)

    async def run_to_end(self, stored: StoredEvaluation) -> StoredEvaluation:
        """Run an evaluation until it has ended.

        Raises:
            BackendUnavailable: the database cannot be written.
        """
        while not stored.state.ended:
            await self._advance(stored, "evaluating")
            stored = await get_evaluation(self._database, stored.id)
        return stored

    async def _advance(self, stored: StoredEvaluation, name: str) -> None:
        """Take the next step: run the first pass, start the evaluation, run its shards, or end."""
        if stored.state is EvaluationState.QUEUED:
            found = await first_pass_of(self._database, stored.number)
            if found is None or found.state.ended:
                await self._starter.start(stored)
            else:
                await self._advance(found, "first pass")
            return
        if await transitions.succeed_if_complete(
            self._database, stored.number, now=self._run.now()
        ):
            return
        free = await free_shards(
            *(self._database, stored.number),
            now=self._database.clock,
            lease_s=_LEASE_S,
            limit=1,
        )
        if not free:
            raise ScaarError(f"evaluation {stored.id} lacks predictions and has no shard for them")
        self._run.progress.name = name
        with self._run.progress.watch(stored.total, stored.done) as self._on_stored:
            await self._sequence.execute(free[0].key)
