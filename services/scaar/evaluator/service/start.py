"""The start of a queued evaluation: its settings are fixed and its work cut into shards."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scaar.core.errors import (
    BackendUnavailable,
    DeadlineExceeded,
    Overloaded,
    ScaarError,
    StreamIncomplete,
)
from scaar.core.evaluations import EvaluationError
from scaar.core.ports import Answerer
from scaar.database.database import Database
from scaar.evaluator.execution.scorers import Answerers, Controls
from scaar.evaluator.planning.work import cut_shards
from scaar.evaluator.records import Setting
from scaar.evaluator.results import Grid
from scaar.evaluator.service.descriptions import rfc3339
from scaar.evaluator.service.preparation import prepare
from scaar.evaluator.service.request_plan import requested_answerers
from scaar.evaluator.splits import split_questions
from scaar.evaluator.store.database import transitions
from scaar.evaluator.store.database.evaluations import (
    StoredEvaluation,
    add_first_pass,
    first_pass_of,
    questions_of,
)
from scaar.evaluator.store.database.predictions import every_prediction
from scaar.evaluator.store.database.transitions import StartedEvaluation
from scaar.evaluator.studies.grid.candidates import first_pass_settings
from scaar.evaluator.studies.grid.first_pass import (
    first_pass_spec,
    only_scores,
    place_candidates,
    require_answers,
    require_development,
)

TEMPORARY = (BackendUnavailable, DeadlineExceeded, Overloaded, StreamIncomplete)
"""Temporary errors, after which the start is tried again."""


@dataclass(frozen=True, slots=True)
class EvaluationStarter:
    """Starts evaluations; with ``waits``, again after temporary errors."""

    database: Database
    answerer: Answerer
    now: Callable[[], float]
    shard_predictions: int
    controls: Controls = field(default_factory=dict)
    cached: Answerers | None = None
    waits: bool = True

    async def start(self, stored: StoredEvaluation) -> bool:
        """Start or fail an evaluation, or queue its first pass.

        Returns False if the orchestrator is not available now.

        Raises:
            BackendUnavailable: the database does not respond.
        """
        number = stored.number
        try:
            started = await self._prepare(stored)
        except ScaarError as error:
            if self.waits and isinstance(error, TEMPORARY):
                return False
            why = EvaluationError(error.reason, error.message)
            await transitions.fail(self.database, number, why, now=self.now())
            return True
        if started is not None:
            evaluation = started.evaluation
            shards = cut_shards(
                evaluation.dataset.questions,
                len(evaluation.settings),
                predictions=self.shard_predictions,
            )
            await transitions.start(self.database, number, started, shards=shards, now=self.now())
        return True

    async def _prepare(self, stored: StoredEvaluation) -> StartedEvaluation | None:
        """Fix the settings and their provenance; None if the first pass must end before."""
        spec = stored.spec
        answerers = requested_answerers(spec, Answerers(self.answerer, self.controls), self.cached)
        first = await questions_of(self.database, stored.number, last=1)
        prepared = await prepare(spec, answerers, first[0], request_id=stored.request_id)
        settings, grid = prepared.settings, None
        if spec.theta_candidates is not None:
            placed = await self._place_grid(stored, settings, spec.theta_candidates)
            if placed is None:
                return None
            settings, grid = placed
        created = rfc3339(stored.created_at)
        evaluation = await prepared.evaluation(settings, grid, created=created)
        return StartedEvaluation(evaluation, prepared.template.prompt_profile)

    async def _place_grid(
        self, stored: StoredEvaluation, settings: Sequence[Setting], size: int
    ) -> tuple[tuple[Setting, ...], Grid] | None:
        """Place the candidates of theta; None if the first pass, now queued, must end before.

        Raises:
            ScaarError: the first pass failed, or there are too few distinct trigger scores.
        """
        judging = first_pass_settings(settings)
        questions = await questions_of(self.database, stored.number)
        splits = split_questions(questions, seed=stored.spec.dataset.seed)
        if not judging:
            return place_candidates(settings, (), splits, size=size)
        found = await first_pass_of(self.database, stored.number)
        if found is None:
            require_development(splits.development)
            spec = first_pass_spec(stored.spec, judging, splits.development)
            await add_first_pass(self.database, stored, spec, splits.development, now=self.now())
            return None
        if found.error is not None:
            raise ScaarError(f"the first pass failed: {found.error.message}")
        predictions = [
            only_scores(each) async for each in every_prediction(self.database, found.number)
        ]
        require_answers(predictions)
        return place_candidates(settings, predictions, splits, size=size)
