"""What an evaluation needs from its answerers before it starts: settings and their provenance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scaar import __version__
from scaar.core.types import AnswerRequest
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.execution.provenance import (
    check_indexes,
    provenances,
    select_servable,
    with_profile,
)
from scaar.evaluator.execution.scorers import Answerers, check_scorers
from scaar.evaluator.records import Question, Setting
from scaar.evaluator.results import Evaluation, Grid, LeftOut
from scaar.evaluator.specification import EvaluationSpec, template_of


@dataclass(frozen=True, slots=True)
class Preparation:
    """The settings that the model can serve, and the request of the first question."""

    spec: EvaluationSpec
    answerers: Answerers
    template: AnswerRequest
    settings: tuple[Setting, ...]
    left_out: tuple[LeftOut, ...] = ()

    async def evaluation(
        self, settings: Sequence[Setting], grid: Grid | None, *, created: str
    ) -> Evaluation:
        """Return the evaluation with the provenance of every setting; no question is answered.

        Raises:
            InvalidRequest: a setting is answered with another scorer than its own, or the indexes
                of the settings contain different passages.
            ScaarError: a setting cannot be answered.
        """
        made = await provenances(
            self.answerers.answerer, settings, self.template, controls=self.answerers.controls
        )
        check_scorers(settings, made)
        check_indexes(settings, made)
        return Evaluation(
            scaar=__version__,
            created=created,
            dataset=self.spec.dataset,
            settings=tuple(settings),
            provenance=made,
            budget=self.template.budget,
            grid=grid,
            left_out=self.left_out,
            generations_cached=self.spec.cache_generations,
            filters=self.spec.filters,
        )


async def prepare(
    spec: EvaluationSpec, answerers: Answerers, first: Question, *, request_id: str = ""
) -> Preparation:
    """Prepare an evaluation with its first question.

    Raises:
        CapabilityMissing: the model can serve none of the settings.
        ScaarError: a setting cannot be answered.
    """
    template = replace(template_of(spec, request_id), question=first.question)
    template = await with_profile(answerers.answerer, template, kind_of(spec.dataset.name))
    settings: tuple[Setting, ...] = spec.settings
    left_out: tuple[LeftOut, ...] = ()
    if spec.skip_unserved:
        settings, left_out = await select_servable(
            answerers.answerer, settings, template, controls=answerers.controls
        )
    return Preparation(spec, answerers, template, settings, left_out)
