from dataclasses import replace

import pytest

from scaar.evaluator.execution.progress import NoProgress
from scaar.evaluator.statistics.cost_units import UNITS
from scaar.evaluator.studies.tuning.candidates import Candidate, Label
from scaar.evaluator.studies.tuning.control import ChosenPolicy, choose_policy
from scaar.evaluator.studies.tuning.drafting import PlannedAnswer
from scaar.evaluator.studies.tuning.target import Target
from scaar.evaluator.studies.tuning.timing import Latency

from .simulated import SUM, WAY, SimulatedModel, questions

ASKED = questions(200)
SLOW = Candidate("surprisal_sum", replace(WAY, top_k=3))
"""A candidate that reads three times as many tokens for the same answers."""
FREE = dict.fromkeys(UNITS, 0.0)


async def tuned(latency: Latency | None, target: Target | None = None) -> ChosenPolicy:
    return await choose_policy(
        *(SimulatedModel(separation=4.0).trajectories(), ASKED, (SLOW, SUM), Label.WRONG),
        *(target or Target(budget=1.2), NoProgress()),
        latency=latency,
    )


def test_the_time_of_an_answer_is_that_of_its_usage() -> None:
    answer = SimulatedModel().answer(PlannedAnswer(ASKED[0], WAY, 0b101))
    times = {
        "llm_calls": 10.0,
        "prompt_tokens": 0.1,
        "generated_tokens": 2.0,
        "searches": 50.0,
        "scored_sentences": 1_000.0,
    }
    usual = 3 * 10.0 + 200 * 0.1 + 30 * 2.0 + 2 * 50.0
    latency = Latency(1.0, times)
    assert latency.seconds(SUM, [answer]) == pytest.approx([usual / 1_000])
    # A trigger by contributions scores every draft.
    scoring = Candidate("exp_raw", WAY)
    assert latency.seconds(scoring, [answer]) == pytest.approx([usual / 1_000 + 3.0])


async def test_without_a_weight_the_candidate_that_comes_first_wins_a_tie() -> None:
    found = await tuned(None)
    assert found.policy.candidate == SLOW
    assert found.tuning.chosen.seconds is None
    assert found.tuning.outer_seconds is None


@pytest.mark.parametrize("target", [Target(budget=1.2), Target(max_risk=0.3)])
async def test_the_faster_of_two_equally_good_candidates_is_chosen(target: Target) -> None:
    found = await tuned(Latency(0.1, {**FREE, "prompt_tokens": 10.0}), target)
    assert found.policy.candidate == SUM
    slow, fast = found.tuning.results
    assert slow.quality == fast.quality
    assert slow.seconds is not None
    assert fast.seconds is not None
    assert slow.seconds.value == pytest.approx(3 * fast.seconds.value)  # type: ignore[operator]
    assert found.tuning.outer_seconds is not None


async def test_a_weight_changes_no_threshold() -> None:
    weighted = await tuned(Latency(5.0, {**FREE, "searches": 1_000.0}))
    plain = await tuned(None)
    thetas = [[each.policy.theta for each in found.tuning.results] for found in (weighted, plain)]
    assert thetas[0] == thetas[1]
