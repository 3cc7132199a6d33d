"""The evaluator at a target, for callers without an event loop."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from scaar.client.evaluations import EvaluationClient, SyncEvaluationClient, open_evaluation_client
from scaar.client.loop_thread import opened_in_thread
from scaar.compose import FOLDER, open_evaluator


@contextmanager
def open_evaluations(target: str, *, run: bool = False) -> Iterator[SyncEvaluationClient]:
    """Open a client of the evaluator at a target, or of ``embedded:DIR`` in this process.

    For ``run``, see :func:`scaar.compose.open_evaluator`.
    """
    opening = (
        _open_folder(target, run) if target.startswith(FOLDER) else open_evaluation_client(target)
    )
    with opened_in_thread(opening) as (client, thread):
        yield SyncEvaluationClient(client, thread)


@asynccontextmanager
async def _open_folder(target: str, run: bool) -> AsyncIterator[EvaluationClient]:
    async with open_evaluator(target, run=run) as evaluator:
        yield EvaluationClient(evaluator)
