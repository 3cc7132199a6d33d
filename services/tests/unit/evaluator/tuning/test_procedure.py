import numpy as np
import pytest

from scaar.evaluator.execution.progress import NoProgress
from scaar.evaluator.studies.tuning.candidates import Candidate, Label
from scaar.evaluator.studies.tuning.control import choose_policy
from scaar.evaluator.studies.tuning.objectives import SearchBudget, Trial
from scaar.evaluator.studies.tuning.procedure import Tuning
from scaar.evaluator.studies.tuning.records import Trajectory
from scaar.evaluator.studies.tuning.target import Target
from scaar.evaluator.studies.tuning.trajectories import Trajectories

from .simulated import LEARNED, POOR_WAY, SUM, WAY, SimulatedModel, questions

ASKED = questions(240)
CANDIDATES = (SUM, Candidate("surprisal_sum", POOR_WAY), LEARNED)


async def tuned(
    model: SimulatedModel, *, budget: float = 1.2, trajectories: Trajectories | None = None
) -> Tuning:
    chosen = await choose_policy(
        *(trajectories or model.trajectories(), ASKED, CANDIDATES),
        *(Label.WRONG, Target(budget=budget), NoProgress()),
    )
    return chosen.tuning


async def test_the_answers_from_trajectories_are_those_of_the_policy_itself() -> None:
    model = SimulatedModel()
    trajectories = model.trajectories()
    for threshold in (0.5, 1.5, 3.0):
        found = await trajectories.answers(
            WAY, lambda draft, t=threshold: draft.values["surprisal_sum"] > t, ASKED
        )
        for each in found:
            fired = sum(
                1 << draft.sentence
                for draft in each.drafts
                if draft.values["surprisal_sum"] > threshold
            )
            assert each.plan == fired


async def test_the_chosen_policy_spends_the_budget_and_answers_better_than_the_poor_one() -> None:
    found = await tuned(SimulatedModel())
    assert found.chosen.candidate == SUM
    poor = found.results[1]
    assert poor.candidate.retrieving == POOR_WAY
    assert found.chosen.quality.value > (poor.quality.value or 0) + 0.2  # type: ignore[operator]
    assert found.chosen.searches.value == pytest.approx(1.2, rel=0.1)
    assert found.outer.value == pytest.approx(found.chosen.quality.value, abs=0.05)
    assert found.optimism == pytest.approx(found.inner - found.outer.value)  # type: ignore[operator]


async def test_the_same_questions_give_the_same_result() -> None:
    first, second = await tuned(SimulatedModel()), await tuned(SimulatedModel())
    assert first == second
    learned = first.results[2].policy.learned
    assert learned is not None
    assert learned.label == "wrong"


async def test_an_interrupted_tuning_resumes_where_it_stopped() -> None:
    whole = SimulatedModel()
    expected = await tuned(whole)
    stored, model = [], SimulatedModel()

    async def until_killed(work):  # type: ignore[no-untyped-def]
        made = await model.draft(work)
        stored.extend(made)
        if len(stored) > 400:
            raise KeyboardInterrupt
        return made

    with pytest.raises(KeyboardInterrupt):
        await tuned(model, trajectories=Trajectories(until_killed))
    before = model.made
    resumed = await tuned(model, trajectories=Trajectories(model.draft, stored))
    assert resumed == expected
    assert model.made == whole.made
    assert before < whole.made


async def test_choosing_among_equal_candidates_is_optimistic_before_the_outer_estimate() -> None:
    """Without any signal, the estimate of the procedure is that of a random retrieval."""
    found = await tuned(SimulatedModel(separation=0.0))
    assert abs(found.optimism) < 0.1


@pytest.mark.parametrize(("rising", "budget", "expected"), [(True, 3.4, 3.0), (False, 9.0, 1.0)])
async def test_the_theta_nearest_to_the_budget_is_found(
    rising: bool, budget: float, expected: float
) -> None:
    thetas = [float(each) for each in np.arange(1, 8)]

    async def attempt(theta: float) -> Trial:
        searches = int(theta if rising else 8 - theta)
        return Trial(WAY, lambda draft: True, [Trajectory("q", "", 0, None, searches, ())])

    objective = SearchBudget(budget)
    assert await objective.theta(thetas, attempt, rising=rising) == expected
    assert await objective.theta([], attempt, rising=rising) is None
