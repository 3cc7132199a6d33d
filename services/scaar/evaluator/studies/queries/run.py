"""A comparison of query formulations that runs in a folder, and resumes there."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from scaar.core.controls import Control
from scaar.evaluator.planning.axes import ITSELF
from scaar.evaluator.records import Question
from scaar.evaluator.studies.queries.drafts import Draft
from scaar.evaluator.studies.queries.formulations import FormulationVariant
from scaar.evaluator.studies.queries.records import QueryEvaluation, QuestionRetrievals
from scaar.evaluator.studies.queries.retrieval import Ports, retrieve_for
from scaar.evaluator.studies.queries.store import QueryResults, open_queries, read_queries

Watch = Callable[[int, int], AbstractContextManager[Callable[[object], None]]]


@dataclass(frozen=True, slots=True)
class QueryRun:
    """How a comparison runs; none of this is part of its settings."""

    ports: Ports
    concurrency: int
    watch: Watch


async def run_queries(
    run: QueryRun,
    folder: Path,
    evaluation: QueryEvaluation,
    questions: Sequence[Question],
    drafts: Mapping[str, Draft],
) -> QueryResults:
    """Make the retrievals that the folder lacks, and return all retrievals.

    Raises:
        InvalidRequest: the folder belongs to another run, or a draft cannot be scored.
        ScaarError: the scorer or the retriever fails, or a result cannot be stored.
    """
    with open_queries(folder, evaluation, questions) as store:
        remaining = [each for each in questions if each.id not in store.known]
        with run.watch(len(questions), len(questions) - len(remaining)) as on_stored:
            await _each(run, remaining, drafts, evaluation.variants, sinks=(store.add, on_stored))
    return read_queries(folder)


async def _each(
    run: QueryRun,
    questions: Sequence[Question],
    drafts: Mapping[str, Draft],
    variants: Sequence[FormulationVariant],
    *,
    sinks: Sequence[Callable[[QuestionRetrievals], None]],
) -> None:
    """Process up to ``concurrency`` questions concurrently; an error stops all."""
    waiting = iter(questions)

    async def process() -> None:
        for question in waiting:
            found = await retrieve_for(run.ports, question, drafts[question.id], variants)
            for each in sinks:
                each(found)

    tasks = [asyncio.create_task(process()) for _ in range(run.concurrency)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def scorer_name(scorer: Control | None) -> str:
    """Return the name of a control, or ``none``."""
    return ITSELF if scorer is None else str(scorer)
