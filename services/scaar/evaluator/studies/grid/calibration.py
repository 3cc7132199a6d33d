"""Budget calibration: the theta at which a policy uses a given number of retrievals per question.

The number of retrievals is known only from a run, since retrieved passages change the sentences
that follow. So the candidates, at quantiles of the trigger score, are bisected with real runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.policies import PRESETS
from scaar.core.policies.settings import adjustable
from scaar.core.types import PolicyRequest
from scaar.evaluator.datasets.checksum import checksum_of
from scaar.evaluator.planning.settings import setting_of
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin, Results
from scaar.evaluator.run import Run, run_in_folder
from scaar.evaluator.scoring.scores import scores_of
from scaar.evaluator.store.folder import FIRST_PASS
from scaar.evaluator.studies.grid.candidates import first_pass_settings, quantiles, trigger_scores
from scaar.evaluator.studies.grid.first_pass import first_pass

CANDIDATES = 64
"""Maximum number of candidates; bisecting them takes six runs."""
THETA = "theta-"
"""Prefix of the folder of a theta's run."""


@dataclass(frozen=True, slots=True)
class Spent:
    """The retrievals per question at a theta, with their 95% interval over entities."""

    theta: float
    retrievals: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The theta nearest to the budget, and all thetas that were tried, in rising order."""

    budget: float
    chosen: Spent
    tried: tuple[Spent, ...]

    @property
    def in_reach(self) -> bool:
        """Whether the budget is within the retrievals of the thetas that were tried."""
        spent = [each.retrievals for each in self.tried]
        return min(spent) <= self.budget <= max(spent)


def check_calibrated(policy: PolicyRequest, budget: float) -> None:
    """Check that a policy can be calibrated for a budget.

    Raises:
        InvalidRequest: the policy has no theta or a fixed one, or the budget is not above 0.
    """
    if "theta" not in adjustable(PRESETS[policy.name]):
        raise InvalidRequest.of("--policy", f"{policy.name} has no theta to calibrate")
    if policy.overrides.theta is not None:
        raise InvalidRequest.of("--set", "cannot fix theta, which is calibrated")
    if not budget > 0:
        raise InvalidRequest.of("--budget", f"must be above 0, not {budget:g}")


def check_calibration_folder(folder: Path) -> None:
    """Validate the output folder of a calibration.

    Raises:
        InvalidRequest: the folder is a file, or contains files of something else.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidRequest.of("--out", f"{folder} is not a folder")
    names = [each.name for each in folder.iterdir()] if folder.exists() else []
    others = [name for name in names if name != FIRST_PASS and not name.startswith(THETA)]
    if others:
        text = f"{folder} contains {min(others)}, not of a calibration; name an empty or new folder"
        raise InvalidRequest.of("--out", text)


async def calibrate(
    run: Run,
    folder: Path,
    policy: PolicyRequest,
    development: Sequence[Question],
    *,
    origin: DatasetOrigin,
    budget: float,
) -> Calibration:
    """Find the theta on the development questions; every run has its own folder.

    Raises:
        ScaarError: no sentence was judged, or a question failed.
    """
    (judging,) = first_pass_settings([setting_of(policy)])
    found = await first_pass(run, folder / FIRST_PASS, [judging], development, origin=origin)
    thetas = quantiles(trigger_scores(found.predictions), CANDIDATES)
    if not thetas:
        raise ScaarError(f"{judging.label}: no sentence was judged, so theta cannot be placed")
    split = replace(origin, questions=len(development), checksum=checksum_of(development))
    tried: dict[int, Spent] = {}

    async def spent(at: int) -> float:
        if at not in tried:
            at_theta = replace(policy, overrides=replace(policy.overrides, theta=thetas[at]))
            where = folder / f"{THETA}{thetas[at]:g}"
            tried[at] = await _spent(run, where, at_theta, development, origin=split)
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
    return Calibration(budget, nearest, tuple(tried[at] for at in sorted(tried)))


async def _spent(
    run: Run,
    folder: Path,
    policy: PolicyRequest,
    questions: Sequence[Question],
    *,
    origin: DatasetOrigin,
) -> Spent:
    setting = setting_of(policy)
    results = await run_in_folder(run, folder, [setting], questions, origin=origin)
    failed = sum(each.failure is not None for each in results.predictions)
    if failed:
        text = f"{failed} questions failed at {setting.label}; try them again with --retry-failed"
        raise ScaarError(text)
    theta = policy.overrides.theta
    assert theta is not None
    return Spent(theta, *_retrievals(results))


def _retrievals(results: Results) -> tuple[float, float, float]:
    """The mean number of retrievals per question, with the bounds of its 95% interval."""
    # Statistics load numpy, which no other command needs.
    from scaar.evaluator.statistics.estimate import estimate
    from scaar.evaluator.statistics.means import means_of, resampled_means
    from scaar.evaluator.statistics.selection import RETRIEVALS
    from scaar.evaluator.statistics.table import TableBuilder

    builder = TableBuilder(results.questions, results.evaluation.settings)
    for score in scores_of(results):
        builder.add_score(score)
    table = builder.build()
    means, samples = (
        found.of(RETRIEVALS)[:, 0] for found in (means_of(table), resampled_means(table, seed=0))
    )
    found = estimate(means, samples)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    return found.value, found.low, found.high
