from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from scipy.stats import binom

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.evaluator.execution.progress import NoProgress
from scaar.evaluator.studies.tuning.candidates import Label
from scaar.evaluator.studies.tuning.control import calibration_split, check_target, choose_policy
from scaar.evaluator.studies.tuning.risk import (
    CALIBRATION_FOLDS,
    binomial_p,
    controlled,
    required_answers,
)
from scaar.evaluator.studies.tuning.target import Target

from .simulated import LEARNED, SUM, SimulatedModel, questions

MAX_RISK, DELTA = 0.1, 0.1
RISKS = (0.0, 0.02, 0.05, 0.08, 0.12, 0.2, 0.4)
"""The risks of thetas, the one that retrieves most first."""


@pytest.mark.parametrize(
    ("losses", "answers", "risk"), [(0, 59, 0.05), (7, 240, 0.05), (3, 9, 0.5)]
)
def test_the_p_value_is_that_of_the_binomial_distribution(
    losses: int, answers: int, risk: float
) -> None:
    assert binomial_p(losses, answers, risk) == pytest.approx(binom.cdf(losses, answers, risk))


def test_a_risk_needs_as_many_answers_as_reject_it_without_a_loss() -> None:
    needed = required_answers(0.05)
    assert needed == 59
    assert binomial_p(0, needed, 0.05) <= 0.05 < binomial_p(0, needed - 1, 0.05)


async def certified(chance: Random, answers: int) -> float:
    """The theta, a position among the risks, that losses drawn at random certify."""

    async def losses(theta: float) -> Sequence[bool]:
        return [chance.random() < RISKS[int(theta)] for _ in range(answers)]

    thetas = [float(each) for each in range(len(RISKS))]
    return await controlled(thetas, losses, max_risk=MAX_RISK, delta=DELTA)


async def test_the_risk_is_within_the_limit_with_the_stated_probability() -> None:
    chance = Random(0)
    found = [RISKS[int(await certified(chance, 200))] for _ in range(500)]
    violations = np.mean([risk > MAX_RISK for risk in found])
    # One-sided bound of a binomial share of 500 at the limit.
    assert violations <= binom.ppf(0.999, 500, DELTA) / 500
    assert np.mean([risk >= 0.05 for risk in found]) > 0.8, "it is not needlessly strict"


async def test_a_risk_that_no_theta_keeps_is_an_error() -> None:
    async def losses(theta: float) -> Sequence[bool]:
        return [True] * 100

    with pytest.raises(ScaarError, match="no theta keeps the risk within 0.1"):
        await controlled([1.0], losses, max_risk=MAX_RISK, delta=DELTA)


async def test_a_policy_for_a_risk_is_tested_on_entities_that_it_was_not_chosen_on() -> None:
    asked = questions(600)
    model = SimulatedModel(separation=4.0)
    found = await choose_policy(
        *(model.trajectories(), asked, (SUM, LEARNED)),
        *(Label.WRONG, Target(max_risk=0.1), NoProgress()),
    )
    tested = calibration_split(asked)
    chosen_on = {each.entity for each in asked if each.fold not in CALIBRATION_FOLDS}
    assert not chosen_on & {each.entity for each in tested}
    assert found.tuning.questions == len(asked) - len(tested)
    assert found.risk is not None
    assert (found.risk.answers, found.risk.max_risk) == (len(tested), 0.1)
    assert found.risk.risk < 0.1
    assert found.risk.caught is not None
    assert found.risk.caught > 0.9
    # Fresh questions of the same kind keep the limit, as far as 2,000 of them show it.
    fresh = tuple(each for each in questions(2600)[600:])
    answers = await model.trajectories().answers(
        found.policy.candidate.retrieving, found.policy.fires, fresh
    )
    lost = [
        any(draft.wrong and not found.policy.fires(draft) for draft in each.drafts)
        for each in answers
    ]
    assert np.mean(lost) < 0.1 + 3 * np.sqrt(0.1 * 0.9 / len(fresh))


def test_too_few_calibration_questions_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="a risk of 0.05 needs 59: add questions"):
        check_target(Target(max_risk=0.05), questions(60))
    check_target(Target(budget=1.0), questions(60))
