"""Threshold search: the theta at which a policy makes a given number of searches per question.

The number of retrievals is known only from a run, since retrieved passages change the sentences
that follow. So the candidates, at quantiles of the trigger score, are bisected with real runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.plurals import counted
from scaar.core.policies import PRESETS
from scaar.core.policies.settings import adjustable
from scaar.core.types import PolicyRequest
from scaar.evaluator.planning.settings import setting_of
from scaar.evaluator.records import Question
from scaar.evaluator.results import Results
from scaar.evaluator.run import Run, run_in_folder
from scaar.evaluator.scoring.scores import scores_of
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.store.folder import read_results
from scaar.evaluator.studies.grid.candidates import first_pass_settings, quantiles, trigger_scores
from scaar.evaluator.studies.grid.first_pass import (
    first_pass_spec,
    origin_of_split,
    require_answers,
    require_development,
)

CANDIDATES = 64
"""Maximum number of candidates; bisecting them takes six runs."""
FIRST_PASS, THETA = "first_pass", "theta-"
"""The folder of the run that drafts the questions, and the prefix of that of a theta's run."""


@dataclass(frozen=True, slots=True)
class Spent:
    """The retrievals per question at a theta, with their 95% interval over entities."""

    theta: float
    retrievals: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ThresholdSearch:
    """The theta nearest to the budget, and all thetas that were tried, in rising order.

    ``results`` are those of the chosen theta.
    """

    budget: float
    chosen: Spent
    tried: tuple[Spent, ...]
    results: Results

    @property
    def in_reach(self) -> bool:
        """Whether the budget is within the retrievals of the thetas that were tried."""
        spent = [each.retrievals for each in self.tried]
        return min(spent) <= self.budget <= max(spent)


def check_threshold(policy: PolicyRequest, budget: float) -> None:
    """Check that the threshold of a policy can be tuned for a budget.

    Raises:
        InvalidRequest: the policy has no theta or a fixed one, or the budget is not above 0.
    """
    if "theta" not in adjustable(PRESETS[policy.name]):
        raise InvalidRequest.of("--policy", f"{policy.name} has no theta to tune")
    if policy.overrides.theta is not None:
        raise InvalidRequest.of("--set", "cannot fix theta, which is tuned")
    if not budget > 0:
        raise InvalidRequest.of("--budget", f"must be above 0, not {budget:g}")


def check_runs_folder(folder: Path) -> None:
    """Validate the folder of the runs.

    Raises:
        InvalidRequest: the folder is a file, or contains files of something else.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidRequest.of("--work", f"{folder} is not a folder")
    names = [each.name for each in folder.iterdir()] if folder.exists() else []
    others = [name for name in names if name != FIRST_PASS and not name.startswith(THETA)]
    if others:
        text = f"{folder} contains {min(others)}, not of a tuning; name an empty or new folder"
        raise InvalidRequest.of("--work", text)


async def search_threshold(
    run: Run,
    folder: Path,
    spec: EvaluationSpec,
    development: Sequence[Question],
    *,
    budget: float,
) -> ThresholdSearch:
    """Find the theta of the only policy on the development questions; every run has its folder.

    Raises:
        ScaarError: there is no development question, no sentence was judged, or a question failed.
    """
    require_development(development)
    policy = spec.settings[0].policy
    (judging,) = first_pass_settings(spec.settings)
    first_pass = first_pass_spec(spec, [judging], development)
    found = await run_in_folder(run, folder / FIRST_PASS, first_pass, development)
    require_answers(found.predictions)
    thetas = quantiles(trigger_scores(found.predictions), CANDIDATES)
    if not thetas:
        raise ScaarError(f"{judging.label}: no sentence was judged, so theta cannot be placed")
    split = replace(spec, dataset=origin_of_split(spec.dataset, development))
    tried: dict[int, Spent] = {}

    async def spent(at: int) -> float:
        if at not in tried:
            at_theta = replace(policy, overrides=replace(policy.overrides, theta=thetas[at]))
            where = folder / f"{THETA}{thetas[at]:g}"
            requested = replace(split, settings=(setting_of(at_theta),))
            tried[at] = await _spent(run, where, requested, development)
        return tried[at].retrievals

    low, high = 0, len(thetas) - 1
    rising = await spent(low) <= await spent(high)
    while high - low > 1:
        middle = (low + high) // 2
        if (await spent(middle) < budget) == rising:
            low = middle
        else:
            high = middle
    nearest = min(tried.values(), key=lambda each: (abs(each.retrievals - budget), each.retrievals))
    return ThresholdSearch(
        *(budget, nearest, tuple(tried[at] for at in sorted(tried))),
        results=read_results(folder / f"{THETA}{nearest.theta:g}"),
    )


async def _spent(
    run: Run, folder: Path, spec: EvaluationSpec, questions: Sequence[Question]
) -> Spent:
    setting = spec.settings[0]
    results = await run_in_folder(run, folder, spec, questions)
    failed = sum(each.failure is not None for each in results.predictions)
    if failed:
        count = counted(failed, "question")
        text = f"{count} failed at {setting.label}; try again with --retry-failed"
        raise ScaarError(text)
    theta = setting.policy.overrides.theta
    assert theta is not None
    return Spent(theta, *_retrievals(results))


def _retrievals(results: Results) -> tuple[float, float, float]:
    """The mean number of searches per question, with the bounds of its 95% interval."""
    # Statistics load numpy, which no other command needs.
    from scaar.evaluator.scoring.summary import table_of
    from scaar.evaluator.statistics.estimate import estimate
    from scaar.evaluator.statistics.matched import SEARCHES
    from scaar.evaluator.statistics.means import resampled_means

    table = table_of(results, scores_of(results))
    found = estimate(resampled_means(table, seed=0).of(*SEARCHES)[:, 0])
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    return found.value, found.low, found.high
