"""The outcomes of gates on made questions."""

import numpy as np
import pytest

from scaar.evaluator.studies.gates.outcomes import (
    ALWAYS,
    F1,
    NEVER,
    ORACLE,
    RANDOM,
    RETRIEVED,
    GateOutcomes,
    at_share,
    detectable,
)
from scaar.evaluator.studies.gates.sample import GateSample, sample_of
from scaar.evaluator.studies.gates.target import Target
from scaar.evaluator.studies.gates.validation import Judged, Trained
from tests.unit.evaluator.gates.made import sample_questions

PERFECT, BLIND = Trained("perfect", Target.BENEFIT), Trained("blind", Target.WRONG)


@pytest.fixture(scope="module")
def sample() -> GateSample:
    return sample_of(sample_questions(150))


@pytest.fixture(scope="module")
def outcomes(sample: GateSample) -> GateOutcomes:
    """A gate that knows the benefit, and one that gives all questions the same score."""
    scores = {PERFECT: sample.benefit[None] - 0.5, BLIND: np.ones((1, 150))}
    judged = Judged(np.arange(150), np.zeros((1, 150)), scores)
    return GateOutcomes(sample, judged, resamples=2_000)


def test_the_rows_are_the_means_of_the_answers(outcomes: GateOutcomes, sample: GateSample) -> None:
    without, retrieved = sample.without.mean(), sample.retrieved.mean()
    for share in (0.25, 0.5, 0.75):
        found = {name: each.value for name, each in outcomes.estimates(at_share(share)).items()}
        assert found[NEVER] == pytest.approx(without)
        assert found[ALWAYS] == pytest.approx(retrieved)
        assert found[RANDOM] == pytest.approx(without + share * (retrieved - without))
        assert found["perfect:benefit"] == pytest.approx(found[ORACLE])
        assert found["blind:wrong"] == pytest.approx(found[RANDOM])


def test_a_perfect_gate_loses_nothing_and_a_blind_one_saves_nothing(
    outcomes: GateOutcomes, sample: GateSample
) -> None:
    helped = (sample.benefit > 0).mean()
    assert outcomes.estimates(RETRIEVED)["perfect:benefit"].value == pytest.approx(helped)
    assert outcomes.estimates(F1)["perfect:benefit"].value == 1
    lost = 100 * (sample.retrieved.mean() - 1) / (1 - helped)
    assert outcomes.lost("perfect:benefit").value == pytest.approx(lost)
    assert outcomes.lost("blind:wrong").value is None
    # Whatever its share, a random choice loses the same per retrieval saved.
    same = 100 * (sample.retrieved.mean() - sample.without.mean())
    assert outcomes.lost(RANDOM).value == pytest.approx(same)


def test_detection_is_by_the_target_of_the_gate(outcomes: GateOutcomes) -> None:
    found = outcomes.detection(PERFECT)
    assert (found.auroc.value, found.sides.value) == (1, 1)
    assert (found.over_retrieval.value, found.under_retrieval.value) == (0, 0)
    found = outcomes.detection(BLIND)
    assert (found.auroc.value, found.sides.value) == (0.5, 0.5)
    assert (found.over_retrieval.value, found.under_retrieval.value) == (1, 0)


def test_only_differences_that_are_large_enough_are_established(outcomes: GateOutcomes) -> None:
    gains = {(each.label, each.share): each for each in outcomes.gains()}
    assert gains["perfect:benefit", 0.5].established
    assert not gains["blind:wrong", 0.5].established
    (pair,) = outcomes.pairs(0.5)
    assert pair.label == "perfect:benefit - blind:wrong"
    assert pair.established


def test_the_minimum_detectable_effect_is_2_8_standard_errors() -> None:
    assert detectable(np.array([-1.0, 1.0])) == pytest.approx(1.959964 + 0.841621, abs=1e-5)
