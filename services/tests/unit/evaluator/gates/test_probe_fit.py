"""The fit of the probe to states whose wrong answers are known."""

from dataclasses import replace

import numpy as np
import pytest

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.gates.fitted_model import FittedModel
from scaar.core.gates.proxy import logistic
from scaar.core.types import Capability, LogprobKind, ModelDescription
from scaar.evaluator.records import Question
from scaar.evaluator.results import Results
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.gates.closed_book import (
    LabelledQuestions,
    check_generator,
    read_labelled,
)
from scaar.evaluator.studies.gates.probe_fit import default_layers, fit_probe
from scaar.testing.evaluations import EVALUATION, LABELS, QUESTIONS, prediction

COUNT, WIDTH = 120, 6


def sample(shift: float) -> tuple[LabelledQuestions, dict[int, Floats]]:
    """Return questions and states; at layer 2 those of wrong answers are shifted."""
    chance = np.random.default_rng(3)
    wrong = chance.random(COUNT) < 0.5
    states = {layer: chance.normal(size=(COUNT, WIDTH)) for layer in (1, 2)}
    states[2][:, 0] += shift * wrong
    questions = tuple(Question(f"q{at}", "Who?", ("Ada",), f"e{at}") for at in range(COUNT))
    model = FittedModel("lm", "r1")
    return LabelledQuestions(questions, tuple(wrong.tolist()), model, {}), states


def test_the_layer_with_the_signal_is_chosen_and_the_fit_is_reproducible() -> None:
    labelled, states = sample(4.0)
    fitted = fit_probe(labelled, states, tokens=64)
    assert fitted == fit_probe(labelled, states, tokens=64)
    assert (fitted.gate.layer, fitted.gate.tokens) == (2, 64)
    assert fitted.layers[2] > 0.95 > fitted.layers[1]
    assert fitted.auroc.value is not None
    assert fitted.auroc.low is not None
    assert fitted.auroc.low <= fitted.auroc.value <= 1
    assert fitted.auroc.value > 0.95
    judged = [logistic(fitted.gate.probe.logit(each)) for each in states[2]]
    agree = [(p >= 0.5) == wrong for p, wrong in zip(judged, labelled.wrong, strict=True)]
    assert np.mean(agree) > 0.9


def test_the_auroc_of_states_without_a_signal_is_not_optimistic() -> None:
    labelled, states = sample(0.0)
    found = fit_probe(labelled, states, tokens=64).auroc
    assert found.low is not None
    assert found.low < 0.5


def test_the_default_layers_are_from_a_third_to_two_thirds_of_the_depth() -> None:
    assert default_layers(18) == (6, 9, 12)
    assert default_layers(3) == (1, 2)
    assert default_layers(1) == (1,)


def test_an_evaluation_with_too_few_right_or_wrong_answers_is_refused() -> None:
    predictions = [prediction(label, each.id) for label in LABELS for each in QUESTIONS]
    results = Results(EVALUATION, QUESTIONS, tuple(predictions))
    with pytest.raises(InvalidRequest, match="must have at least 10 wrong answers without"):
        read_labelled(results)


def test_a_generator_with_another_model_than_that_of_the_answers_is_refused() -> None:
    labelled, _ = sample(0.0)
    capabilities = frozenset({Capability.LOGPROBS})
    serving = ModelDescription("lm", "r1", "fake", LogprobKind.RAW, capabilities, 1000, "plain")
    check_generator(labelled, serving, "p_correct", Capability.LOGPROBS)
    expected = r"DIR: has answers of model lm \(revision r1\), and .* serves other \(no revision\)"
    other = replace(serving, model="other", revision="")
    with pytest.raises(InvalidRequest, match=expected):
        check_generator(labelled, other, "p_correct", Capability.LOGPROBS)
    with pytest.raises(CapabilityMissing, match="gate probe needs hidden_states, which model lm"):
        check_generator(labelled, serving, "probe", Capability.HIDDEN_STATES)
