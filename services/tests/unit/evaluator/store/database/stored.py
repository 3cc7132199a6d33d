"""A small evaluation in a database, queued or started."""

from scaar.database.database import Database
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.store.database.evaluations import (
    NewEvaluation,
    StoredEvaluation,
    add_evaluation,
)
from scaar.evaluator.store.database.shards import ShardKey
from scaar.evaluator.store.database.transitions import StartedEvaluation, start
from scaar.testing.evaluations import EVALUATION, QUESTIONS, SETTINGS

SPEC = EvaluationSpec(EVALUATION.dataset, SETTINGS, "lab", 60.0)


async def queued(
    database: Database, name: str = "a", *, now: float = 100.0, max_unfinished: int = 9
) -> StoredEvaluation:
    new = NewEvaluation(name, "default", name, SPEC, QUESTIONS, len(SPEC.settings))
    return await add_evaluation(database, new, now=now, max_unfinished=max_unfinished)


async def running(database: Database, name: str = "a") -> ShardKey:
    """The first of two shards of a running evaluation, with a question each."""
    stored = await queued(database, name)
    started = StartedEvaluation(EVALUATION, "lab-1")
    assert await start(database, stored.number, started, shards=((0, 1), (1, 2)), now=101.0)
    return ShardKey(stored.number, 0)
