from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from scaar.core.triggers.learned import learned_value
from scaar.evaluator.statistics.regression import RIDGE, fit_logistic
from scaar.evaluator.studies.tuning.candidates import Label
from scaar.evaluator.studies.tuning.labels import LabelledDraft, Labeller
from scaar.evaluator.studies.tuning.learning import fit_learned
from scaar.evaluator.studies.tuning.records import JudgedDraft

from .simulated import POOR_WAY, WAY, SimulatedModel, questions


def test_the_regression_is_the_optimum_of_the_penalized_likelihood() -> None:
    chance = np.random.default_rng(0)
    features = chance.normal(size=(300, 4)) * (1.0, 10.0, 0.1, 0.0) + (0.0, 5.0, -1.0, 2.0)
    truths = (features[:, 0] + features[:, 1] / 10 + chance.normal(size=300) > 0.5) * 1.0
    fitted = fit_logistic(features, truths)
    design = (features - fitted.means) / fitted.scales

    def loss(weights: np.ndarray) -> float:
        logits = weights[0] + design @ weights[1:]
        likelihood = np.logaddexp(0, logits) - truths * logits
        return float(likelihood.sum() + RIDGE / 2 * (weights[1:] ** 2).sum())

    found = minimize(loss, np.zeros(5), tol=1e-12).x
    assert [fitted.intercept, *fitted.coefficients] == pytest.approx(found, abs=1e-4)
    assert fitted.scales[3] == 1.0


def test_separable_labels_have_finite_coefficients() -> None:
    features = np.linspace(-1e3, 1e3, 50)[:, None]
    fitted = fit_logistic(features, (features[:, 0] > 0) * 1.0)
    assert np.isfinite(fitted.coefficients).all()


def never(draft: JudgedDraft) -> bool:
    return False


async def wrong_drafts(count: int) -> list[LabelledDraft]:
    """The drafts of a model that never retrieves."""
    trajectories, asked = SimulatedModel().trajectories(), questions(count)
    answers = await trajectories.answers(WAY, never, asked)
    return await Labeller(trajectories, asked, Label.WRONG).label_drafts(
        Label.WRONG, WAY, never, answers
    )


async def test_a_fit_is_reproducible_and_separates_wrong_drafts() -> None:
    labelled = await wrong_drafts(200)
    found = fit_learned(labelled, Label.WRONG)
    assert found is not None
    assert found == fit_learned(labelled, Label.WRONG)
    assert (found.signal_names, found.label) == (("surprisal_sum", "words"), "wrong")
    assert len(found.digest) == 64
    values = [learned_value(found, each.draft.signals) or 0.0 for each in labelled]
    wrong = np.array([each.wrong for each in labelled])
    assert np.array(values)[wrong].mean() > np.array(values)[~wrong].mean() + 0.2
    assert np.mean(values) == pytest.approx(wrong.mean(), abs=0.01)


async def test_the_expected_benefit_is_that_of_the_labels_on_average() -> None:
    trajectories, asked = SimulatedModel().trajectories(), questions(200)
    labeller = Labeller(trajectories, asked, Label.WRONG)
    answers = await trajectories.answers(WAY, never, asked)
    labelled = await labeller.label_drafts(Label.BENEFIT, WAY, never, answers)
    # Every tenth retrieval for a right draft makes the answer worse.
    harmed = [
        replace(each, gain=-1.0) if not each.wrong and at % 10 == 0 else each
        for at, each in enumerate(labelled)
    ]
    for drafts in (labelled, harmed):
        found = fit_learned(drafts, Label.BENEFIT)
        assert found is not None
        values = [learned_value(found, each.draft.signals) or 0.0 for each in drafts]
        expected = np.mean([np.sign(each.gain or 0.0) for each in drafts])
        assert 2 * np.mean(values) - 1 == pytest.approx(expected, abs=0.01)


async def test_labels_of_one_kind_are_not_fitted() -> None:
    labelled = await wrong_drafts(10)
    assert fit_learned([each for each in labelled if each.wrong], Label.WRONG) is None


async def test_a_retrieval_is_a_benefit_if_it_alone_makes_the_answer_right() -> None:
    trajectories, asked = SimulatedModel().trajectories(), questions(60)
    labeller = Labeller(trajectories, asked, Label.BENEFIT)

    def perfect(draft: JudgedDraft) -> bool:
        return draft.wrong is True

    answers = await trajectories.answers(WAY, perfect, asked)
    labelled = await labeller.label_drafts(Label.BENEFIT, WAY, perfect, answers)
    # With every error corrected, exactly the wrong drafts profit.
    assert [each.has(Label.BENEFIT) for each in labelled] == [each.draft.wrong for each in labelled]
    assert not any(await labeller.accepted(WAY, perfect, answers))
    poor = await trajectories.answers(POOR_WAY, perfect, asked)
    useless = await labeller.label_drafts(Label.BENEFIT, POOR_WAY, perfect, poor)
    assert not any(each.has(Label.BENEFIT) for each in useless)


async def test_an_answer_with_a_wrong_draft_that_is_accepted_is_a_loss() -> None:
    trajectories, asked = SimulatedModel().trajectories(), questions(60)
    answers = await trajectories.answers(WAY, never, asked)
    lost = await Labeller(trajectories, asked, Label.WRONG).accepted(WAY, never, answers)
    assert lost == [each.quality == 0.0 for each in answers]
