"""``scaar tune --only threshold``: the threshold of a policy for a budget, as an artefact."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scaar.compose import EMBEDDED, open_catalog, open_orchestrator
from scaar.core.policies.artefact_json import with_digest
from scaar.core.policies.requirements import needs_scorer
from scaar.core.types import (
    DevelopmentFigures,
    ExpectedCost,
    LabelKind,
    PolicyArtefact,
    TuningConditions,
)
from scaar.evaluation.answerers import open_answerers
from scaar.evaluation.conditions import conditions_of
from scaar.evaluation.local import EvaluationOptions, run_of, spec_of
from scaar.evaluator.splits import split_questions

if TYPE_CHECKING:
    from scaar.evaluator.execution.progress import RunProgress
    from scaar.evaluator.studies.grid.threshold import ThresholdSearch


@dataclass(frozen=True, slots=True)
class TunedThreshold:
    """The artefact, and the thetas that were tried."""

    artefact: PolicyArtefact
    search: "ThresholdSearch"


async def tune_threshold(
    evaluation: EvaluationOptions, progress: "RunProgress", *, name: str, budget: float
) -> TunedThreshold:
    """Tune the threshold of the only policy on the development split, by real runs.

    No labels are needed: the quality is not looked at.

    Raises:
        InvalidRequest: the folder belongs to another evaluation, or another run is using it.
        ScaarError: there is no development question, no sentence was judged, or a question failed.
    """
    from scaar.evaluator.studies.grid.threshold import search_threshold
    from scaar.evaluator.studies.tuning.artefact import trigger_rate

    drawn, spec = evaluation.drawn, spec_of(evaluation)
    halves = split_questions(drawn.questions, seed=drawn.origin.seed)
    async with open_answerers(evaluation.addresses, lab_world=drawn.lab_world) as answerers:
        run = run_of(evaluation, answerers, progress)
        found = await search_threshold(run, evaluation.out, spec, halves.development, budget=budget)
    policy = evaluation.settings[0].policy
    (made,) = found.results.evaluation.provenance.values()
    artefact = PolicyArtefact(
        name=name,
        policy=policy.name,
        settings=replace(policy.overrides, theta=found.chosen.theta),
        tuned_on=await _conditions(
            evaluation,
            spec.index,
            scored=needs_scorer(policy),
            prompt_profile=made.prompt_profile,
        ),
        label_kind=LabelKind.NONE,
        development=DevelopmentFigures(len(halves.development), len(found.tried)),
        expected=ExpectedCost(
            round(found.chosen.retrievals, 4), round(trigger_rate(found.results.predictions), 4)
        ),
    )
    return TunedThreshold(with_digest(artefact), found)


async def _conditions(
    evaluation: EvaluationOptions, index: str, *, scored: bool, prompt_profile: str
) -> TuningConditions:
    target = evaluation.addresses.itself
    if target != EMBEDDED:
        async with open_catalog(target) as catalog:
            return await conditions_of(catalog, index, scored=scored, prompt_profile=prompt_profile)
    async with open_orchestrator() as (_, own):
        return await conditions_of(own, index, scored=scored, prompt_profile=prompt_profile)
