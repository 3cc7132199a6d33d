"""Results that are stored in the database of a folder as a whole."""

import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from scaar.core.policies.requirements import needs_retriever
from scaar.core.tenancy import DEFAULT_TENANT
from scaar.core.types import ANSWER_TIMEOUT_S
from scaar.database.database import Database, open_database
from scaar.database.migration import upgrade
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.results import Evaluation, Results
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.store.database import transitions
from scaar.evaluator.store.database.evaluations import NewEvaluation, add_evaluation
from scaar.evaluator.store.database.predictions import ShardPredictions
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.evaluator.store.database.studies import add_study
from scaar.evaluator.store.database.transitions import StartedEvaluation
from scaar.evaluator.store.files import WRITING
from scaar.evaluator.store.folder import DATABASE, held
from scaar.evaluator.store.studies import S, StoredStudy, Study

_BATCH = 500
"""Number of predictions in a transaction."""


async def store_results(folder: Path, results: Results) -> None:
    """Store results in a folder without a database, as those of a run that can be resumed.

    The database appears complete.

    Raises:
        InvalidRequest: another process holds the folder.
        BackendUnavailable: the database cannot be written.
    """
    async with _new_database(folder) as database:
        await _store(database, results)


async def store_study(folder: Path, study: Study[S], stored: StoredStudy[S]) -> None:
    """Store a study in a folder without a database, in the same way."""
    async with _new_database(folder) as database:
        await add_study(database, study, stored)


@asynccontextmanager
async def _new_database(folder: Path) -> AsyncIterator[Database]:
    with held(folder):
        writing = folder / f"{DATABASE}{WRITING}"
        writing.unlink(missing_ok=True)
        async with open_database(f"sqlite:///{writing.absolute()}", SCHEMA) as database:
            await upgrade(database)
            yield database
        writing.replace(folder / DATABASE)


async def _store(database: Database, results: Results) -> None:
    evaluation, questions = results.evaluation, results.questions
    name, now = uuid.uuid4().hex, time.time()
    new = NewEvaluation(
        *(name, DEFAULT_TENANT, name, _spec_of(evaluation)), questions, len(evaluation.settings)
    )
    stored = await add_evaluation(database, new, now=now, max_unfinished=1)
    await transitions.start(
        *(database, stored.number),
        StartedEvaluation(evaluation, _prompt_profile(evaluation)),
        shards=((0, len(questions)),),
        now=now,
    )
    store = ShardPredictions(
        *(database, stored.number),
        first=0,
        questions=questions,
        settings=evaluation.settings,
        kind=kind_of(evaluation.dataset.name),
        attempts=1,
    )
    for at in range(0, len(results.predictions), _BATCH):
        await store.add(results.predictions[at : at + _BATCH])
    await transitions.succeed_if_complete(database, stored.number, now=now)


def _spec_of(evaluation: Evaluation) -> EvaluationSpec:
    """The specification of the evaluation, with the thetas of a grid among its settings."""
    indexes = (
        evaluation.provenance[each.label].index
        for each in evaluation.settings
        if each.index is None and needs_retriever(each.policy)
    )
    return EvaluationSpec(
        dataset=evaluation.dataset,
        settings=evaluation.settings,
        index=next(indexes, ""),
        timeout_s=evaluation.budget.timeout_s or ANSWER_TIMEOUT_S,
        theta_candidates=evaluation.grid.size if evaluation.grid else None,
        cache_generations=evaluation.generations_cached,
        filters=evaluation.filters,
    )


def _prompt_profile(evaluation: Evaluation) -> str:
    """The requested prompt profile: one with few-shot examples, or else the model's own."""
    profile = evaluation.provenance[evaluation.settings[0].label].prompt_profile
    return profile if ":" in profile else ""
