"""A queued evaluation begun: what will answer is asked, and the work cut into shards."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from scaar.core.errors import (
    BackendUnavailable,
    DeadlineExceeded,
    Overloaded,
    ScaarError,
    StreamIncomplete,
)
from scaar.core.evaluations import EvaluationError
from scaar.core.ports import Answerer
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.execution.examples import with_examples
from scaar.evaluator.planning.shards import cut
from scaar.evaluator.run import Run, begun
from scaar.evaluator.service.describing import time_of
from scaar.evaluator.service.planning import template_of
from scaar.evaluator.store.database import transitions
from scaar.evaluator.store.database.evaluations import StoredEvaluation, questions_of
from scaar.evaluator.store.database.opening import Database
from scaar.evaluator.store.database.transitions import Begun

PASSING = (BackendUnavailable, DeadlineExceeded, Overloaded, StreamIncomplete)
"""Conditions that may be gone in a while."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """Begins evaluations; ``scaar`` is the version that they are told to be of."""

    database: Database
    answerer: Answerer
    scaar: str
    now: Callable[[], float]
    shard_predictions: int

    async def begin(self, stored: StoredEvaluation) -> bool:
        """Has it run, or fail for good; false where what answers cannot be asked now.

        Raises:
            BackendUnavailable: the database does not answer.
        """
        asked, number = stored.asked, stored.number
        first = await questions_of(self.database, number, last=1)
        try:
            template = replace(template_of(asked, stored.request_id), question=first[0].question)
            template = await with_examples(self.answerer, template, kind_of(asked.dataset.name))
            run = Run(self.answerer, template, self.scaar, time_of(stored.created_at))
            evaluation = await begun(run, asked.settings, first, origin=asked.dataset)
        except PASSING:
            return False
        except ScaarError as error:
            why = EvaluationError(error.reason, error.message)
            await transitions.fail(self.database, number, why, now=self.now())
            return True
        shards = cut(
            asked.dataset.questions, len(asked.settings), predictions=self.shard_predictions
        )
        ready = Begun(evaluation, template.prompt_profile)
        await transitions.begin(self.database, number, ready, shards=shards, now=self.now())
        return True
