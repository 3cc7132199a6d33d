"""A small evaluation in a database, queued or begun."""

from scaar.evaluator.asked import Asked
from scaar.evaluator.store.database.evaluations import (
    NewEvaluation,
    StoredEvaluation,
    add_evaluation,
)
from scaar.evaluator.store.database.opening import Database
from scaar.evaluator.store.database.shards import ShardKey
from scaar.evaluator.store.database.transitions import Begun, begin
from scaar.testing.evaluations import EVALUATION, QUESTIONS, SETTINGS

ASKED = Asked(EVALUATION.dataset, SETTINGS, "lab", 60.0)


async def queued(
    database: Database, name: str = "a", *, now: float = 100.0, most_unfinished: int = 9
) -> StoredEvaluation:
    new = NewEvaluation(name, "default", name, ASKED, QUESTIONS)
    return await add_evaluation(database, new, now=now, most_unfinished=most_unfinished)


async def running(database: Database, name: str = "a") -> ShardKey:
    """The first of two shards of an evaluation that runs, a question each."""
    stored = await queued(database, name)
    begun = Begun(EVALUATION, "lab-1")
    assert await begin(database, stored.number, begun, shards=((0, 1), (1, 2)), now=101.0)
    return ShardKey(stored.number, 0)
