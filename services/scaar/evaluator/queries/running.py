"""A run over drafts in a folder, from wherever it stopped to its end."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from scaar.core.controls import Control
from scaar.evaluator.planning.scorers import ITSELF
from scaar.evaluator.queries.asking import Ports, ask
from scaar.evaluator.queries.askings import Asking
from scaar.evaluator.queries.drafts import Draft
from scaar.evaluator.queries.records import Asked, QueryEvaluation
from scaar.evaluator.queries.store import QueryResults, open_queries, read_queries
from scaar.evaluator.records import Question

Watch = Callable[[int, int], AbstractContextManager[Callable[[object], None]]]


@dataclass(frozen=True, slots=True)
class QueryRun:
    """How a run over drafts is run; none of it is part of what it is set to."""

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
    """Asks for every question that was not asked for yet, and gives back all there is.

    Raises:
        InvalidRequest: the folder is of another run, or a draft cannot be scored.
        ScaarError: scorer or retriever do not answer, or what came cannot be kept.
    """
    with open_queries(folder, evaluation, questions) as store:
        left = [each for each in questions if each.id not in store.known]
        with run.watch(len(questions), len(questions) - len(left)) as told:
            await _each(run, left, drafts, evaluation.askings, kept=(store.add, told))
    return read_queries(folder)


async def _each(
    run: QueryRun,
    questions: Sequence[Question],
    drafts: Mapping[str, Draft],
    askings: Sequence[Asking],
    *,
    kept: Sequence[Callable[[Asked], None]],
) -> None:
    """Asks ``concurrency`` questions at a time; ends the others where one cannot be asked."""
    waiting = iter(questions)

    async def go_on() -> None:
        for question in waiting:
            asked = await ask(run.ports, question, drafts[question.id], askings)
            for each in kept:
                each(asked)

    tasks = [asyncio.create_task(go_on()) for _ in range(run.concurrency)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def scorer_name(scorer: Control | None) -> str:
    """A control's name, or ``none``."""
    return ITSELF if scorer is None else str(scorer)
